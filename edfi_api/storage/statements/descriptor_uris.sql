SELECT a.referential_id, d.natural_key FROM alias a JOIN document d ON d.id = a.document_id
 WHERE a.referential_id = ANY (%(ids)s::uuid[])
