-- The referrers of a document, except itself. A school can have millions of them: the error names the oldest of those that
-- are read, at most `looked_at` of each resource type, which are stored next to each other.
SELECT target.id, d.id, t.project, t.name, d.document_uuid, d.natural_key
  FROM document target JOIN alias a ON a.document_id = target.id CROSS JOIN resource_type t
 CROSS JOIN LATERAL (
    SELECT r.document_id
      FROM (
        SELECT r.document_id FROM reference r
         WHERE r.alias_id = a.referential_id AND r.resource_type_id = t.id AND r.document_id <> target.id
         LIMIT %(looked_at)s
      ) r
     ORDER BY r.document_id LIMIT %(named)s
 ) r JOIN document d ON d.id = r.document_id
 WHERE target.document_uuid = %(document_uuid)s{of_types}
 ORDER BY d.id
