-- The documents with these identities.
SELECT a.referential_id, d.resource_type_id, d.id, d.document_uuid, d.natural_key, d.body::text, d.last_modified_at,
       d.last_modified_by
  FROM alias a JOIN document d ON d.id = a.document_id
 WHERE a.referential_id = ANY (%(aliases)s)
