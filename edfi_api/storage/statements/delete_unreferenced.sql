-- Deletes those of some documents to which no other document refers. Returns their ids. The client is passed to the
-- triggers as in the statement that deletes one document.
WITH target AS (
    SELECT d.id, d.change_version, set_config('meadowlark.client', %(client)s::text, true),
           set_config('meadowlark.user', '', true)
      FROM document d
     WHERE d.document_uuid = ANY (%(ids)s::uuid[]) AND d.resource_type_id = %(resource_type)s
       AND ({is_allowed})
       AND NOT EXISTS (
           SELECT FROM alias a JOIN reference r ON r.alias_id = a.referential_id
            WHERE a.document_id = d.id AND r.document_id <> d.id
       )
), deleted AS (
    DELETE FROM document d USING target e WHERE d.id = e.id AND d.change_version = e.change_version
    RETURNING d.id, d.document_uuid
), own_references AS (
    DELETE FROM reference r USING deleted WHERE r.document_id = deleted.id
)
SELECT document_uuid FROM deleted
