-- What rules look up by natural keys.
SELECT a.referential_id, {columns}
  FROM alias a JOIN document d ON d.id = a.document_id
 WHERE a.referential_id = ANY (%(ids)s::uuid[])
