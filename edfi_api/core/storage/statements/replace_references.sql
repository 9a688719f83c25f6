WITH old_references AS (
    DELETE FROM reference r WHERE r.document_id = %(row)s AND r.alias_id <> ALL (%(targets)s::uuid[])
)
INSERT INTO reference (document_id, resource_type_id, alias_id)
SELECT id, resource_type_id, unnest(%(targets)s::uuid[]) FROM document WHERE id = %(row)s
ON CONFLICT DO NOTHING
RETURNING alias_id
