-- Deletes the document with an id. Returns 'deleted', 'denied' or 'stale', or no row if there is no such document.
--
-- A delete has no row to store the client or the user of the admin in, so it passes them to the triggers as settings.
WITH target AS (
    SELECT id, document_uuid, change_version, set_config('meadowlark.client', %(client)s::text, true),
           set_config('meadowlark.user', %(user)s::text, true){is_allowed}
      FROM document d
     WHERE document_uuid = %(document_uuid)s AND resource_type_id = %(resource_type)s
), deleted AS (
    DELETE FROM document d USING target e
     WHERE d.id = e.id AND coalesce(%(expected_version)s::bigint, d.change_version) = d.change_version{only_as_it_was}
    RETURNING d.id, d.document_uuid
), own_references AS (
    -- The foreign keys are checked at the end of the statement. The document's own references are gone by then, so one
    -- that refers to itself is no obstacle to its own removal.
    DELETE FROM reference r USING deleted WHERE r.document_id = deleted.id
)
SELECT CASE WHEN EXISTS (SELECT FROM deleted) THEN 'deleted'{denied} ELSE 'stale' END,
       document_uuid::text, change_version
  FROM target
