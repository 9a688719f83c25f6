SELECT d.change_version FROM alias a JOIN document d ON d.id = a.document_id
 WHERE a.referential_id = %(referential_id)s
