-- What documents of a load replace, for the rules that look at it. In the order of their rows, so that concurrent loads
-- wait for each other instead of deadlocking.
SELECT a.referential_id, d.body FROM alias a JOIN document d ON d.id = a.document_id
 WHERE a.referential_id = ANY (%(ids)s::uuid[])
 ORDER BY d.id
   FOR NO KEY UPDATE OF d
