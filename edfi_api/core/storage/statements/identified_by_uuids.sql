SELECT d.document_uuid, a.referential_id FROM document d JOIN alias a ON a.document_id = d.id
 WHERE d.document_uuid = ANY (%(ids)s::uuid[])
