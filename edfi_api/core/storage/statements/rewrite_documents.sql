-- The securables of each document are passed as a JSON object, since PostgreSQL's arrays of arrays must be rectangular.
-- The links of all documents but the root stay, since these refer to the same documents as before.
UPDATE document d
   SET body = changed.body::jsonb,
       ({securables}) = ROW({new_securables}),
       (linked_types, linked_ids) = ROW(
           CASE WHEN d.id = %(root)s::bigint THEN %(types)s::smallint[] ELSE d.linked_types END,
           CASE WHEN d.id = %(root)s::bigint THEN %(ids)s::uuid[] ELSE d.linked_ids END
       ),
       last_modified_at = now(), last_modified_by = %(client)s::bigint
  FROM unnest(%(rows)s::bigint[], %(bodies)s::text[], %(securables)s::text[])
       AS changed (id, body, securables)
       CROSS JOIN LATERAL jsonb_to_record(changed.securables::jsonb)
       AS new ({typed_securables})
 WHERE d.id = changed.id
RETURNING d.id, d.document_uuid::text, d.change_version
