-- For the retry of a write after a concurrent one: takes the lock of the update before anything is read.
SELECT id FROM document
 WHERE document_uuid = %(document_uuid)s AND resource_type_id = %(resource_type)s
   FOR NO KEY UPDATE
