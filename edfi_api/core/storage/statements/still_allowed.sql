-- Whether the policy still allows the change of a document that is locked now. The permission may have been revoked while
-- the transaction waited for the lock, and a statement that waits continues with its old snapshot.
SELECT {is_allowed} FROM document d WHERE d.document_uuid = %(document_uuid)s
