"""A ledger with many entries."""

from django.db import connection

_INSERT = """
INSERT INTO refusal (
    id, client, data_store, resource, subject, has_identity, natural_key, operation, is_batch, is_summary, status,
    problem, title, paths, errors, cause, cause_text, awaited_resource, correlation_id, first_at, last_at, count,
    sequence, resolved_at, resolution
)
SELECT gen_random_uuid(), %s, 0, '/ed-fi/students', gen_random_uuid(), true, 'NK#studentUniqueId=' || n, 'upsert',
       false, false, 400, 'bad-request', 'Bad Request', '{}', '[]', md5((n / 10)::text)::uuid, 'cause', '', 'id', now(),
       now(), 1, nextval('refusal_change'), CASE WHEN n < 19998 THEN now() END, CASE WHEN n < 19998 THEN 'succeeded' END
  FROM generate_series(1, 20000) n
"""


def insert_many_refusals(client: int) -> None:
    """20,000 entries of a client, of which three are open."""
    with connection.cursor() as cursor:
        cursor.execute(_INSERT, [client])
        cursor.execute("ANALYZE refusal")
