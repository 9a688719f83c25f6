"""Many refusals and results, written by SQL.

Open refusals are the oldest, since clients repeat them for weeks while everything else is repaired; one of them has a
resource and a problem of its own. Of the results nine of ten are open, and the first ten violate rules of their own.
"""

from dataclasses import dataclass

from django.db import connection

_REFUSALS = """
INSERT INTO refusal (
    id, client, data_store, resource, subject, has_identity, natural_key, document_uuid, organization, operation,
    is_batch, is_summary, status, problem, title, paths, errors, cause, cause_text, awaited_resource, correlation_id,
    first_at, last_at, count, resolved_at, resolution, sequence
)
SELECT (lpad(to_hex(1764000000000 + n * 1000), 12, '0') || '70008000' || lpad(to_hex(n), 12, '0'))::uuid,
       client, 0, resource, md5(n::text)::uuid, true, 'NK#studentUniqueId=' || n, md5('document' || n)::uuid,
       1 + mod(n, 2000), 'upsert', false, false, CASE WHEN problem = 'bad-request' THEN 400 ELSE 409 END, problem,
       'Title', '{"$.schoolReference": ["The referenced School item does not exist."]}', '[]',
       md5('cause' || mod(n, 100))::uuid, 'School NK#schoolId=' || mod(n, 100) || ' is missing', '/ed-fi/schools',
       to_hex(n), at, CASE WHEN n > %(open)s THEN at ELSE now() END, 1, CASE WHEN n > %(open)s THEN at END,
       CASE WHEN n > %(open)s THEN 'succeeded' END, n
  FROM (
    SELECT n, CASE WHEN mod(n, 2) = 0 THEN %(client)s ELSE %(other)s END AS client,
           now() - interval '2 days' - (%(rows)s - n) * interval '28 days' / %(rows)s AS at,
           CASE WHEN n = 2 THEN '/ed-fi/rare' ELSE '/ed-fi/resource' || mod(n, 20) END AS resource,
           CASE WHEN n = 2 THEN 'rare' WHEN mod(n, 5) = 0 THEN 'bad-request' ELSE 'data-conflict:unresolved' END
             AS problem
      FROM generate_series(1, %(rows)s) n
  ) numbered
"""
_RULES = """
INSERT INTO validation_rule (
    source, identifier, version, digest, file, language, resource, severity, category, short_description, description,
    help_url, external_id, logic, is_active, document_types
)
SELECT 'tests', 'R-' || n, '1', '', '', 'sql', 'Student', (ARRAY['major', 'minor', 'warning'])[least(n, 3)],
       CASE WHEN n < 3 THEN 'Rare' ELSE 'Usual' END, 's', 'd', '', '', '', true,
       ARRAY[(SELECT id FROM resource_type WHERE name = 'Student')]
  FROM generate_series(1, 20) n
"""
_RESULTS = """
INSERT INTO validation_result (
    result_uuid, result_key, episode, rule_id, digest, document_uuid, resource_type_id, natural_key, organization,
    student, staff, message, first_run, appeared_at, resolved_at, resolved_run
)
SELECT md5(n::text)::uuid, md5(n::text)::uuid, 1, v.id, sha256(n::text::bytea), d.document_uuid, d.resource_type_id,
       'NK#studentUniqueId=' || n, 77 + mod(n, 2000), 'S' || n / 10, 'T' || n / 10, 'message', 1,
       now() - (%(rows)s - n) * interval '60 days' / %(rows)s,
       CASE WHEN mod(n, 10) = 0 THEN now() END, CASE WHEN mod(n, 10) = 0 THEN 1 END
  FROM document d JOIN resource_type t ON t.id = d.resource_type_id AND t.name = 'Student',
       generate_series(1, %(rows)s) n
  JOIN validation_rule v ON v.identifier = 'R-' || CASE WHEN n <= 10 THEN n ELSE 3 + mod(n, 18) END
"""
_RUNS = """
INSERT INTO validation_run (run_identifier, host, started_by, change_version, status)
VALUES ('r', 'h', 't', 1, 'Completed')
"""


@dataclass(frozen=True, slots=True)
class Clients:
    """The row ids of two clients, each of which sends half of the refused writes."""

    client: int
    other: int


def fill(rows: int, open_refusals: int, clients: Clients) -> None:
    """Replace all refusals and results by so many of each."""
    given = {"rows": rows, "open": open_refusals, "client": clients.client, "other": clients.other}
    with connection.cursor() as cursor:
        cursor.execute("TRUNCATE refusal, open_refusals, validation_result, open_validation_results")
        cursor.execute("SELECT EXISTS (SELECT FROM validation_rule)")
        if not cursor.fetchone()[0]:
            cursor.execute(_RULES)
            cursor.execute(_RUNS)
        cursor.execute(_REFUSALS, given)
        cursor.execute(_RESULTS, given)
        cursor.execute("ANALYZE refusal, validation_result, open_refusals, open_validation_results")
