-- Of documents that are not here any more, and of those there that others have replaced. The more often one was refused, the
-- longer until it is tried again.
SELECT document_uuid FROM exchange_sent_document s
 WHERE connection = %(connection)s AND refused_at IS NOT NULL
   AND refused_at <= now() - make_interval(secs => (attempts - 1) ^ 2)
   AND (former_ids <> '{}' OR NOT EXISTS (SELECT FROM document d WHERE d.document_uuid = s.document_uuid))
 ORDER BY refused_at, id LIMIT %(most)s
