-- A restored document keeps its original creator and time of creation.
UPDATE document SET created_by = %(created_by)s::bigint, created_at = %(created_at)s::timestamptz
 WHERE document_uuid = %(document_uuid)s
RETURNING id
