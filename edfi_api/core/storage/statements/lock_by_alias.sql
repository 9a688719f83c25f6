-- For the retry of a write after a concurrent one: takes the lock of the update before anything is read.
SELECT d.id FROM alias a JOIN document d ON d.id = a.document_id
 WHERE a.referential_id = %(referential_id)s
   FOR NO KEY UPDATE OF d
