"""The SQL of the store: each operation is one statement and so one round trip. Parameters are named.

`expected_version` is the change version that a conditional write may replace, 0 if it may only insert, NULL without
a condition. `client` is the API client's row id; a delete has no row to put it into, so it goes the way of a setting.
Inserts take their change version by the column's default, updates and deletes by triggers. All run at READ COMMITTED.
Within one statement every part sees the same snapshot, so the parts of a write agree with each other; what a
concurrent transaction did meanwhile shows as a constraint violation or as no row at all, and the store runs the
statement again.
"""

from edfi_api.documents import securables

# What decides who may see a document follows its body, wherever that is written.
SECURABLES = ", ".join(securables.COLUMNS)
_NEW_SECURABLES = ", ".join(f"%({name})s::{type_}" for name, type_ in securables.COLUMNS.items())

# Where the written row comes from differs between upsert and update; the rest of a write is one text.
_WRITE = f"""
updated AS (
    -- The change version is compared again because the row may have changed since the snapshot; the difference
    -- of the references below would then be taken from old rows. No row is updated in that case.
    UPDATE document d
       SET body = %(body)s::jsonb, natural_key = %(natural_key)s, ({SECURABLES}) = ROW({_NEW_SECURABLES}),
           last_modified_at = now(), last_modified_by = %(client)s::bigint
      FROM existing e
     WHERE d.id = e.id AND e.is_same_identity AND NOT e.is_same_body AND d.change_version = e.change_version
       AND e.is_expected
    RETURNING d.id, d.document_uuid, d.change_version, d.last_modified_at
), written AS (
    SELECT 'inserted' AS outcome, * FROM inserted UNION ALL SELECT 'updated', * FROM updated
), new_aliases AS (
    INSERT INTO alias (referential_id, document_id)
    SELECT unnest(%(aliases)s::uuid[]), id FROM inserted
), new_references AS (
    INSERT INTO reference (document_id, resource_type_id, alias_id)
    SELECT w.id, %(resource_type)s, target FROM written w CROSS JOIN unnest(%(targets)s::uuid[]) AS target
    ON CONFLICT DO NOTHING
), old_references AS (
    DELETE FROM reference r USING updated u
     WHERE r.document_id = u.id AND r.alias_id <> ALL (%(targets)s::uuid[])
)
SELECT outcome, document_uuid, change_version, last_modified_at FROM written
UNION ALL
SELECT CASE WHEN is_same_identity THEN 'unchanged' ELSE 'other identity' END,
       document_uuid, change_version, last_modified_at
  FROM existing WHERE is_expected AND (is_same_body OR NOT is_same_identity)
"""

UPSERT = f"""
WITH existing AS (
    SELECT d.id, d.document_uuid, d.change_version, d.last_modified_at,
           d.body = %(body)s::jsonb AS is_same_body, true AS is_same_identity,
           coalesce(%(expected_version)s::bigint, d.change_version) = d.change_version AS is_expected
      FROM alias a JOIN document d ON d.id = a.document_id
     WHERE a.referential_id = %(referential_id)s
), inserted AS (
    INSERT INTO document (document_uuid, resource_type_id, natural_key, body, created_by, last_modified_by,
                          {SECURABLES})
    SELECT %(document_uuid)s::uuid, %(resource_type)s::smallint, %(natural_key)s::text, %(body)s::jsonb,
           %(client)s::bigint, %(client)s::bigint, {_NEW_SECURABLES}
     WHERE NOT EXISTS (SELECT FROM existing) AND coalesce(%(expected_version)s::bigint, 0) = 0
    RETURNING id, document_uuid, change_version, last_modified_at
), {_WRITE}
"""

UPDATE = f"""
WITH existing AS (
    SELECT d.id, d.document_uuid, d.change_version, d.last_modified_at,
           d.body = %(body)s::jsonb AS is_same_body,
           EXISTS (
               SELECT FROM alias a WHERE a.document_id = d.id AND a.referential_id = %(referential_id)s
           ) AS is_same_identity,
           coalesce(%(expected_version)s::bigint, d.change_version) = d.change_version AS is_expected
      FROM document d
     WHERE d.document_uuid = %(document_uuid)s AND d.resource_type_id = %(resource_type)s
), inserted AS (
    SELECT id, document_uuid, change_version, last_modified_at FROM existing WHERE false
), {_WRITE}
"""

DELETE = """
WITH target AS (
    SELECT id, set_config('meadowlark.client', %(client)s::text, true) FROM document
     WHERE document_uuid = %(document_uuid)s AND resource_type_id = %(resource_type)s
       AND coalesce(%(expected_version)s::bigint, change_version) = change_version
), own_references AS (
    -- Its own references go first, so that a document which refers to itself is no obstacle to its own removal.
    DELETE FROM reference r USING target WHERE r.document_id = target.id
)
DELETE FROM document d USING target
 WHERE d.id = target.id AND coalesce(%(expected_version)s::bigint, d.change_version) = d.change_version
RETURNING d.document_uuid
"""

# A document that comes back was not created by who brings it back, nor now.
KEEP_CREATION = """
UPDATE document SET created_by = %(created_by)s::bigint, created_at = %(created_at)s::timestamptz
 WHERE document_uuid = %(document_uuid)s
RETURNING id
"""

VERSION_BY_ALIAS = """
SELECT d.change_version FROM alias a JOIN document d ON d.id = a.document_id
 WHERE a.referential_id = %(referential_id)s
"""

VERSION_BY_UUID = """
SELECT change_version FROM document
 WHERE document_uuid = %(document_uuid)s AND resource_type_id = %(resource_type)s
"""

# For a write that met another one: the lock that its update would take, before it reads anything.
LOCK_BY_ALIAS = """
SELECT d.id FROM alias a JOIN document d ON d.id = a.document_id
 WHERE a.referential_id = %(referential_id)s
   FOR NO KEY UPDATE OF d
"""

LOCK_BY_UUID = """
SELECT id FROM document
 WHERE document_uuid = %(document_uuid)s AND resource_type_id = %(resource_type)s
   FOR NO KEY UPDATE
"""

GET = """
SELECT id, document_uuid, body::text, change_version, last_modified_at
  FROM document
 WHERE document_uuid = %(document_uuid)s AND resource_type_id = %(resource_type)s
"""

# What a document refers to, descriptors included: to tell them apart would cost more than to read them.
TARGETS = """
SELECT array_agg(r.alias_id) AS aliases, array_agg(t.resource_type_id) AS types, array_agg(t.document_uuid) AS uuids
  FROM reference r JOIN alias a ON a.referential_id = r.alias_id JOIN document t ON t.id = a.document_id
 WHERE r.document_id = d.id
"""

GET_WITH_TARGETS = f"""
SELECT d.id, d.document_uuid, d.body::text, d.change_version, d.last_modified_at, targets.*
  FROM document d CROSS JOIN LATERAL ({TARGETS}) targets
 WHERE d.document_uuid = %(document_uuid)s AND d.resource_type_id = %(resource_type)s
"""

# --- The cascade of an identity change; all within one transaction ---

LOCK_DOCUMENT = """
SELECT id, body::text FROM document
 WHERE document_uuid = %(document_uuid)s
   AND coalesce(%(expected_version)s::bigint, change_version) = change_version
   FOR UPDATE
"""

# A writer that is about to refer to one of these holds a weaker lock on it, or waits until we are through.
LOCK_ALIASES = """
SELECT referential_id FROM alias WHERE referential_id = ANY (%(aliases)s::uuid[]) ORDER BY referential_id FOR UPDATE
"""

LOCK_REFERRERS = """
SELECT d.id, d.resource_type_id, d.body::text
  FROM document d
 WHERE d.id IN (SELECT r.document_id FROM reference r WHERE r.alias_id = ANY (%(aliases)s::uuid[]))
 ORDER BY d.id
   FOR UPDATE
"""

# The rows of `reference` that point at them follow by ON UPDATE CASCADE.
MOVE_ALIASES = """
UPDATE alias a SET referential_id = moved.new
  FROM unnest(%(stored)s::uuid[], %(new)s::uuid[]) AS moved (stored, new)
 WHERE a.referential_id = moved.stored
RETURNING a.document_id
"""

# The securables of a document travel as one JSON object each: an array of arrays would have to be rectangular.
REWRITE_DOCUMENTS = f"""
UPDATE document d
   SET body = changed.body::jsonb, natural_key = changed.natural_key,
       ({SECURABLES}) = ROW({", ".join(f"new.{name}" for name in securables.COLUMNS)}),
       last_modified_at = now(), last_modified_by = %(client)s::bigint
  FROM unnest(%(rows)s::bigint[], %(bodies)s::text[], %(natural_keys)s::text[], %(securables)s::text[])
       AS changed (id, body, natural_key, securables)
       CROSS JOIN LATERAL jsonb_to_record(changed.securables::jsonb)
       AS new ({", ".join(f"{name} {type_}" for name, type_ in securables.COLUMNS.items())})
 WHERE d.id = changed.id
RETURNING d.id
"""

REPLACE_REFERENCES = """
WITH old_references AS (
    DELETE FROM reference r WHERE r.document_id = %(row)s AND r.alias_id <> ALL (%(targets)s::uuid[])
)
INSERT INTO reference (document_id, resource_type_id, alias_id)
SELECT id, resource_type_id, unnest(%(targets)s::uuid[]) FROM document WHERE id = %(row)s
ON CONFLICT DO NOTHING
RETURNING alias_id
"""
