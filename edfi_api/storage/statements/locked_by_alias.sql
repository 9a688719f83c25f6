-- What a document of a load replaces, for the rules that look at it.
SELECT d.body FROM alias a JOIN document d ON d.id = a.document_id
 WHERE a.referential_id = %(referential_id)s
   FOR NO KEY UPDATE OF d
