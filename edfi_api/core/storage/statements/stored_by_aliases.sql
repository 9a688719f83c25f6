SELECT a.referential_id, d.document_uuid, d.change_version FROM alias a JOIN document d ON d.id = a.document_id
 WHERE a.referential_id = ANY (%(ids)s::uuid[]){and_allowed}
