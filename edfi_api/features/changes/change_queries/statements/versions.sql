-- What is still known of a document, the newest first: its versions, and its deletes. The conditions on `resource_type_id`
-- keep documents of other resources out, whose ids a client may have guessed.
SELECT change_version, operation, natural_key, body::text, client,
       coalesce(username, (SELECT r.username FROM restoration r WHERE r.change_version = known.change_version)),
       to_char(at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), created_by, columns::text
  FROM (
    SELECT change_version, coalesce(operation, 'insert') AS operation, natural_key(resource_type_id, body) AS natural_key,
           body, last_modified_by AS client, NULL::text AS username, last_modified_at AS at, created_by,
           NULL::jsonb AS columns
      FROM document WHERE document_uuid = %(document_uuid)s AND resource_type_id = %(type)s
     UNION ALL
    SELECT change_version, operation, natural_key(resource_type_id, body), body, last_modified_by, NULL,
           last_modified_at, NULL, NULL
      FROM superseded_document WHERE document_uuid = %(document_uuid)s AND resource_type_id = %(type)s
     UNION ALL
    SELECT last_change_version, last_operation, natural_key, body, last_modified_by, NULL, last_modified_at, created_by,
           to_jsonb(d) - 'body'
      FROM deleted_document d WHERE document_uuid = %(document_uuid)s AND resource_type_id = %(type)s
     UNION ALL
    SELECT change_version, 'delete', natural_key, NULL, deleted_by, deleted_by_user, deleted_at, created_by,
           to_jsonb(d) - 'body'
      FROM deleted_document d WHERE document_uuid = %(document_uuid)s AND resource_type_id = %(type)s
  ) AS known
 WHERE change_version < %(before)s
 ORDER BY change_version DESC LIMIT %(size)s
