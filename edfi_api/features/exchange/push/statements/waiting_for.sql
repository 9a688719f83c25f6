-- By what refused documents lack, and by what accepted documents refer to: a person that may only be changed by those who
-- have an association with it.
WITH accepted AS MATERIALIZED (
    SELECT d.id FROM document d WHERE d.document_uuid = ANY (%(accepted)s::uuid[])
), present AS MATERIALIZED (
    SELECT a.referential_id FROM accepted JOIN alias a ON a.document_id = accepted.id
), waiting AS (
    SELECT s.id, s.document_uuid FROM exchange_sent_document s, unnest(s.awaits) AS awaited (id)
     WHERE s.connection = %(connection)s AND s.refused_at IS NOT NULL
       AND awaited.id IN (SELECT referential_id FROM present)
     UNION
    SELECT s.id, s.document_uuid
      FROM accepted JOIN reference r ON r.document_id = accepted.id JOIN alias a ON a.referential_id = r.alias_id
      JOIN document d ON d.id = a.document_id
      JOIN exchange_sent_document s ON s.document_uuid = d.document_uuid
     WHERE s.connection = %(connection)s AND s.refused_at IS NOT NULL
)
SELECT document_uuid FROM waiting WHERE NOT document_uuid = ANY (%(accepted)s::uuid[]) ORDER BY id LIMIT %(most)s
