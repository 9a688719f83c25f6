SELECT a.referential_id, (d.body ->> 'namespace') || '#' || (d.body ->> 'codeValue')
  FROM alias a JOIN document d ON d.id = a.document_id
 WHERE a.referential_id = ANY (%(ids)s::uuid[])
