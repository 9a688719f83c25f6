-- Inserts the document and returns as the upsert does, or returns no row if the document exists, a target of its reference
-- objects is not stored, or the policy does not allow it: the upsert then decides. For the upsert PostgreSQL prepares
-- every write that may be necessary at each execution, and runs the triggers of those that do nothing, too.
WITH {links}, inserted AS (
    INSERT INTO document (document_uuid, resource_type_id, body, linked_types, linked_ids, created_by,
                          last_modified_by, {securables})
    SELECT %(document_uuid)s::uuid, %(resource_type)s::smallint, %(body)s::jsonb, types, ids, %(client)s::bigint,
           %(client)s::bigint, {new_securables}
      FROM links
     WHERE NOT EXISTS (SELECT FROM alias WHERE referential_id = %(referential_id)s) AND are_there{and_allowed}
    RETURNING id, document_uuid, change_version
), new_aliases AS (
    INSERT INTO alias (referential_id, document_id)
    SELECT unnest(%(aliases)s::uuid[]), id FROM inserted
), new_references AS (
    INSERT INTO reference (document_id, resource_type_id, alias_id)
    SELECT id, %(resource_type)s::smallint, unnest(%(targets)s::uuid[]) FROM inserted
)
SELECT 'inserted', document_uuid::text, change_version FROM inserted
