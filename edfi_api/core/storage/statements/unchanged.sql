-- Returns the document if an upsert or update would not change it, otherwise no row. Takes a tenth of the time of the
-- upsert, whose plan contains every write that may be necessary.
SELECT 'unchanged', d.document_uuid::text, d.change_version FROM alias a JOIN document d ON d.id = a.document_id
 WHERE a.referential_id = %(referential_id)s{and_has_id} AND d.body = %(body)s::jsonb{and_allowed}
