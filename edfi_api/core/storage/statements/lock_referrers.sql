SELECT d.id, d.resource_type_id, d.body::text
  FROM document d
 WHERE d.id IN (SELECT r.document_id FROM reference r WHERE r.alias_id = ANY (%(aliases)s::uuid[]))
 ORDER BY d.id
   FOR UPDATE
