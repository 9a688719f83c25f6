"""The SQL of a batch. `write` does for all staged rows of a pass what `upsert.sql` of the storage does for one, and
`authorized_write` what it does under a policy and with conditions, for rows that are its parameter.

All statements of a load's batch run in one transaction at READ COMMITTED. Targets and superclass identities are checked
first, so that rows that cannot be written do not fail the batch; integrity is still enforced by the foreign keys and
the primary key of `alias`.
"""

from collections.abc import Mapping
from functools import cache, lru_cache

from edfi_api.core.documents.extraction import DESCRIPTOR_KEY
from edfi_api.core.documents.securables import COLUMNS
from edfi_api.core.storage.rows import STAGED
from edfi_api.core.storage.stored import SECURABLES

# Set for the transaction only: behind a pooler, the session also serves API clients, whose commits must wait for the
# disk. JIT is off because the planner overestimates the cost of these statements, and compiling takes longer than it
# saves.
WITHOUT_JIT = "SET LOCAL jit TO off"
WITHOUT_WAITING_FOR_DISK = "SET LOCAL synchronous_commit TO off"

# `position` is the row's position in the batch, `pass_number` the pass in which it is written; the other columns are
# those of a write. The planner cannot estimate how many documents exist or differ; the index prevents plans that
# compare every row with every other. A caller's transaction may have several batches.
STAGE = f"""
CREATE TEMPORARY TABLE IF NOT EXISTS staged_document (
    position integer PRIMARY KEY,
    document_uuid uuid NOT NULL,
    resource_type_id smallint NOT NULL,
    referential_id uuid NOT NULL,
    superclass_id uuid,
    targets uuid[] NOT NULL,
    linked uuid[] NOT NULL,
    body jsonb NOT NULL,
    {", ".join(f"{name} {type_}" for name, type_ in COLUMNS.items())},
    expected_version bigint,
    sent_created_at timestamptz,
    sent_modified_at timestamptz,
    sent_version bigint,
    sent_owner bigint,
    pass_number integer NOT NULL DEFAULT 1
) ON COMMIT DROP;
TRUNCATE staged_document
"""

_COPIED = f"""position, document_uuid, resource_type_id, referential_id, superclass_id, targets,
                      linked, body, {SECURABLES}, expected_version"""
COPY = f"COPY staged_document ({_COPIED}) FROM STDIN"
COPY_IMPORTED = (
    f"COPY staged_document ({_COPIED}, sent_created_at, sent_modified_at, sent_version, sent_owner) FROM STDIN"
)

# Without statistics the planner assumes a handful of rows and uses nested loops.
ANALYZE = "ANALYZE staged_document (position, referential_id, superclass_id, pass_number)"

NOT_STORED = """
WITH missing AS (
    SELECT target FROM (SELECT DISTINCT unnest(targets) AS target FROM staged_document) wanted
     WHERE NOT EXISTS (SELECT FROM alias WHERE referential_id = target)
)
SELECT s.position, target FROM staged_document s CROSS JOIN unnest(s.targets) AS target
 WHERE target IN (SELECT target FROM missing)
"""

DUPLICATES = """
SELECT s.position FROM staged_document s JOIN alias above ON above.referential_id = s.superclass_id
 WHERE NOT EXISTS (SELECT FROM alias own WHERE own.referential_id = s.referential_id)
"""

# The bodies to write in place of stored ones `d`: those that were sent, or, of descriptors, these with the stored
# spelling of their keys.
_AS_SENT = "{row}.body"
_WITH_STORED_KEY = (
    "{row}.body || jsonb_build_object(" + ", ".join(f"'{name}', d.body -> '{name}'" for name in DESCRIPTOR_KEY) + ")"
)


def body_of(row: str, *, keeps_keys: bool) -> str:
    """The body to write for a row in place of the stored document `d`; `keeps_keys` for descriptors."""
    return f"({(_WITH_STORED_KEY if keeps_keys else _AS_SENT).format(row=row)})"


# A dry run reads each row with its body, and whether the stored one is the same; NULL if none is stored.
COMPARED = """
SELECT s.position, s.resource_type_id, (CASE WHEN d.id IS NULL THEN s.body ELSE {body} END)::text, d.body = {body}
  FROM staged_document s
  LEFT JOIN alias a ON a.referential_id = s.referential_id
  LEFT JOIN document d ON d.id = a.document_id
 ORDER BY s.position
"""

# Rows of pass 0 are never written.
SET_PASSES = """
UPDATE staged_document s SET pass_number = assigned.pass_number
  FROM unnest(%(positions)s::integer[], %(passes)s::integer[]) AS assigned (position, pass_number)
 WHERE s.position = assigned.position
"""

_WRITE = f"""
WITH {{staged}}existing AS (
    SELECT s.position, d.id, d.document_uuid, d.change_version, {{is_same}} AS is_same_body{{is_allowed}}
      FROM staged_document s
      JOIN alias a ON a.referential_id = s.referential_id
      JOIN document d ON d.id = a.document_id
     WHERE {{chosen}}
), to_write AS MATERIALIZED (
    SELECT s.* FROM staged_document s
     WHERE {{chosen}}
       AND NOT EXISTS (SELECT FROM existing e WHERE e.position = s.position AND (e.is_same_body{{or_denied}}))
), linked AS MATERIALIZED (
    SELECT a.referential_id, d.resource_type_id, d.document_uuid
      FROM alias a JOIN document d ON d.id = a.document_id
     WHERE a.referential_id IN (SELECT unnest(linked) FROM to_write)
       FOR KEY SHARE OF a
), to_insert AS MATERIALIZED (
    SELECT s.* FROM to_write s
     WHERE s.position NOT IN (SELECT position FROM existing){{and_new_allowed}}
), links AS MATERIALIZED (
    -- As in the upsert; the rows of a pass may refer to each other. A row with a target that was deleted concurrently
    -- is not written, and appears in no outcome.
    SELECT s.position, array_agg(t.resource_type_id ORDER BY place) AS types,
           array_agg(t.document_uuid ORDER BY place) AS ids
      FROM to_write s CROSS JOIN unnest(s.linked) WITH ORDINALITY AS l (alias_id, place)
      LEFT JOIN (
        TABLE linked
         UNION ALL
        SELECT referential_id, resource_type_id, document_uuid FROM to_insert
         UNION ALL
        SELECT superclass_id, resource_type_id, document_uuid FROM to_insert WHERE superclass_id IS NOT NULL
      ) t ON t.referential_id = l.alias_id
     GROUP BY s.position
    HAVING bool_and(t.referential_id IS NOT NULL)
     UNION ALL
    SELECT position, NULL, NULL FROM to_write WHERE cardinality(linked) < 1
), new AS MATERIALIZED (
    SELECT nextval('document_id_seq') AS id, ready.*
      FROM (SELECT * FROM to_insert JOIN links USING (position) ORDER BY position) ready
), inserted AS (
    INSERT INTO document (id, document_uuid, resource_type_id, body, linked_types, linked_ids,
                          created_by, last_modified_by, {SECURABLES}{{sent_columns}})
    OVERRIDING SYSTEM VALUE
    SELECT id, document_uuid, resource_type_id, body, types, ids, {{owner}}, %(client)s::bigint,
           {SECURABLES}{{sent_values}}
      FROM new
    RETURNING id, document_uuid, change_version
), changed AS MATERIALIZED (
    -- Joined before the documents: the planner expects one document with this id and version, and would compare it with
    -- each row.
    SELECT e.id, e.change_version, s.*, l.types, l.ids
      FROM existing e JOIN to_write s ON s.position = e.position JOIN links l ON l.position = e.position
     WHERE NOT e.is_same_body
), updated AS (
    -- As in the upsert: a row that changed since the snapshot is not updated, and appears in no outcome.
    UPDATE document d
       SET body = {{new_body}}, linked_types = c.types, linked_ids = c.ids,
           ({SECURABLES}) = ROW({{new_securables}}),
           last_modified_at = {{modified_at}}, last_modified_by = %(client)s::bigint{{sent_changes}}
      FROM changed c
     WHERE d.id = c.id AND d.change_version = c.change_version
    RETURNING d.id, d.document_uuid, d.change_version, d.resource_type_id, c.position, c.targets
), new_aliases AS (
    INSERT INTO alias (referential_id, document_id)
    SELECT referential_id, id FROM new
     UNION ALL
    SELECT superclass_id, id FROM new WHERE superclass_id IS NOT NULL
), references_of_new AS (
    INSERT INTO reference (document_id, resource_type_id, alias_id)
    SELECT id, resource_type_id, unnest(targets) FROM new
), references_of_updated AS (
    INSERT INTO reference (document_id, resource_type_id, alias_id)
    SELECT id, resource_type_id, unnest(targets) FROM updated
    ON CONFLICT DO NOTHING
), old_references AS (
    DELETE FROM reference r USING updated u WHERE r.document_id = u.id AND r.alias_id <> ALL (u.targets)
)
{{result}}
"""

_POSITIONS = """
SELECT 'inserted', array_agg(position) FROM new HAVING count(*) > 0
 UNION ALL
SELECT 'updated', array_agg(position) FROM updated HAVING count(*) > 0
 UNION ALL
SELECT 'unchanged', array_agg(position) FROM existing WHERE is_same_body HAVING count(*) > 0
"""
# Stored bodies that differ stay as they are.
_POSITIONS_OF_NEW = """
SELECT 'inserted', array_agg(position) FROM new HAVING count(*) > 0
 UNION ALL
SELECT CASE WHEN is_same_body THEN 'unchanged'
            WHEN change_version > %(began)s THEN 'repeated'
            ELSE 'different'
       END, array_agg(position)
  FROM existing GROUP BY 1
"""
# All new rows are inserted, so the join is an inner one; a full one cannot be planned as a nested loop.
_VERSIONS = """
SELECT n.position, 'inserted', i.document_uuid::text, i.change_version FROM inserted i FULL JOIN new n ON n.id = i.id
 UNION ALL
SELECT position, 'updated', document_uuid::text, change_version FROM updated
 UNION ALL
SELECT position, 'unchanged', document_uuid::text, change_version FROM existing WHERE is_same_body AND is_allowed
"""
_NOTHING_IMPORTED = {
    "is_same": "d.body = {body}",
    "owner": "%(client)s::bigint",
    "sent_columns": "",
    "sent_values": "",
    "modified_at": "now()",
    "sent_changes": "",
}
_IN_A_PASS = {
    "staged": "",
    "chosen": "s.pass_number = %(pass_number)s",
    "is_allowed": "",
    "or_denied": "",
    "and_new_allowed": "",
    "result": _POSITIONS,
}
_INSERTS_ONLY = {"or_denied": " OR true", "result": _POSITIONS_OF_NEW}
# The condition for rows that come with the envelope that they have on another server.
_IS_SAME_AS_IMPORTED = """(
        d.body = {body} AND d.created_at = s.sent_created_at AND d.last_modified_at = s.sent_modified_at
        AND d.change_version = coalesce(s.sent_version, d.change_version)
        AND (s.sent_owner IS NULL OR d.created_by IS NOT DISTINCT FROM s.sent_owner)
    )"""
_IMPORTED = {
    "is_same": _IS_SAME_AS_IMPORTED,
    "owner": "sent_owner",
    "sent_columns": ", created_at, last_modified_at, change_version",
    "sent_values": ", sent_created_at, sent_modified_at, coalesce(sent_version, next_change_version() - 1)",
    "modified_at": "c.sent_modified_at",
    "sent_changes": """, created_at = c.sent_created_at,
           created_by = coalesce(c.sent_owner, d.created_by),
           change_version = coalesce(c.sent_version, next_change_version())""",
}


def _written(parts: Mapping[str, str], *, keeps_keys: bool) -> str:
    """The statement of these parts; `keeps_keys` if the rows are descriptors."""
    columns = {name: f"c.{name}" for name in COLUMNS}
    if keeps_keys:
        columns["namespace"] = "d.namespace"
    spelt = {
        "is_same": parts["is_same"].format(body=body_of("s", keeps_keys=keeps_keys)),
        "new_body": body_of("c", keeps_keys=keeps_keys),
        "new_securables": ", ".join(columns.values()),
    }
    return _WRITE.format(**{**parts, **spelt})


@cache
def write(*, keeps_keys: bool) -> str:
    """Writes the staged rows of a pass. Returns the outcomes, each with the positions that have it."""
    return _written(_IN_A_PASS | _NOTHING_IMPORTED, keeps_keys=keeps_keys)


@cache
def insert(*, keeps_keys: bool) -> str:
    """Inserts the staged rows of a pass that are new; of stored documents with other bodies it only says so."""
    return _written(_IN_A_PASS | _NOTHING_IMPORTED | _INSERTS_ONLY, keeps_keys=keeps_keys)


@cache
def write_imported(*, keeps_keys: bool) -> str:
    """Writes the staged rows of a pass, which have envelopes."""
    return _written(_IN_A_PASS | _IMPORTED, keeps_keys=keeps_keys)


def is_same_as_imported(*, keeps_keys: bool) -> str:
    """Return whether a stored document `d` is that of the row `s`, envelope included."""
    return _IS_SAME_AS_IMPORTED.format(body=body_of("s", keeps_keys=keeps_keys))


_ALLOWED = f"""
WITH {STAGED}
SELECT s.position FROM staged_document s
  LEFT JOIN alias a ON a.referential_id = s.referential_id
  LEFT JOIN document d ON d.id = a.document_id
 WHERE CASE WHEN d.id IS NULL THEN {{new_allowed}} ELSE {{stored_allowed}} END
"""
_STORED_ALLOWED = "coalesce(s.expected_version, d.change_version) = d.change_version AND ({})"
_NEW_ALLOWED = "coalesce(s.expected_version, 0) = 0 AND ({})"


@lru_cache(maxsize=1024)
def authorized_write(stored_allowed: str, new_allowed: str, *, keeps_keys: bool) -> str:
    """The statement that writes those of the `rows`, a JSON array of objects with the columns of `staged_document`, for
    which these conditions hold, and those of their `expected_version`: on rows `s` for which there is a document `d`,
    and on new ones. Returns position, outcome, id and change version."""
    parts = {
        "staged": f"{STAGED}, ",
        "chosen": "true",
        "is_allowed": f", {_STORED_ALLOWED.format(stored_allowed)} AS is_allowed",
        "or_denied": " OR NOT e.is_allowed",
        "and_new_allowed": f" AND {_NEW_ALLOWED.format(new_allowed)}",
        "result": _VERSIONS,
    }
    return _written(parts | _NOTHING_IMPORTED, keeps_keys=keeps_keys)


@lru_cache(maxsize=1024)
def authorized_pass(stored_allowed: str, new_allowed: str, *, keeps_keys: bool) -> str:
    """`write` for those of the staged rows of a pass for which the conditions hold. What is stored already is
    unchanged, whoever may write it; other rows that are denied have no outcome."""
    conditions = {
        "is_allowed": f", ({stored_allowed}) AS is_allowed",
        "or_denied": " OR NOT e.is_allowed",
        "and_new_allowed": f" AND ({new_allowed})",
    }
    return _written(_IN_A_PASS | _NOTHING_IMPORTED | conditions, keeps_keys=keeps_keys)


# The documents of staged rows get another owner; nothing else of them changes.
ADOPT = """
UPDATE document d SET created_by = %(client)s::bigint
  FROM alias a
 WHERE a.referential_id = ANY (%(ids)s::uuid[]) AND d.id = a.document_id
   AND d.created_by IS DISTINCT FROM %(client)s::bigint
"""


@lru_cache(maxsize=1024)
def allowed(stored_allowed: str, new_allowed: str) -> str:
    """Return which of the `rows` meet the conditions of `authorized_write`."""
    return _ALLOWED.format(
        stored_allowed=_STORED_ALLOWED.format(stored_allowed), new_allowed=_NEW_ALLOWED.format(new_allowed)
    )


# Deletes those of some documents to which no other document refers. Returns their ids. The client is passed to the
# triggers as in the statement that deletes one document.
DELETE_UNREFERENCED = """
WITH target AS (
    SELECT d.id, d.change_version, set_config('meadowlark.client', %(client)s::text, true),
           set_config('meadowlark.user', '', true)
      FROM document d
     WHERE d.document_uuid = ANY (%(ids)s::uuid[]) AND d.resource_type_id = %(resource_type)s
       AND ({is_allowed})
       AND NOT EXISTS (
           SELECT FROM alias a JOIN reference r ON r.alias_id = a.referential_id
            WHERE a.document_id = d.id AND r.document_id <> d.id
       )
), deleted AS (
    DELETE FROM document d USING target e WHERE d.id = e.id AND d.change_version = e.change_version
    RETURNING d.id, d.document_uuid
), own_references AS (
    DELETE FROM reference r USING deleted WHERE r.document_id = deleted.id
)
SELECT document_uuid FROM deleted
"""
