SELECT id, body::text FROM document
 WHERE document_uuid = %(document_uuid)s
   AND coalesce(%(expected_version)s::bigint, change_version) = change_version
   FOR UPDATE
