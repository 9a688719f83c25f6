-- The latest documents of a resource that refer to each of these identities. What many documents refer to, such as a
-- school, has some of them.
SELECT wanted.alias, wanted.type, d.id, d.document_uuid, d.natural_key, d.body::text, d.last_modified_at,
       d.last_modified_by
  FROM unnest(%(aliases)s::uuid[], %(types)s::smallint[]) AS wanted (alias, type)
  CROSS JOIN LATERAL (
      SELECT document_id
        FROM (SELECT document_id FROM reference WHERE alias_id = wanted.alias AND resource_type_id = wanted.type
               LIMIT %(counted)s) AS first_ones
       ORDER BY document_id DESC LIMIT %(most)s
  ) AS latest
  JOIN document d ON d.id = latest.document_id
 ORDER BY d.id
