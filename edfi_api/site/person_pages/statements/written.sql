-- What was written last about a person: into the documents that refer to it, into those that the page shows beside
-- these, and into its own. A version that was replaced comes before the version of its document, so those of the latest
-- documents suffice. Deleted documents are found by the values of their keys.
WITH direct AS MATERIALIZED (
    SELECT document_id, resource_type_id FROM reference WHERE alias_id = %(person)s LIMIT %(looked_at)s
), beside AS MATERIALIZED (
    SELECT r.document_id
      FROM direct
      CROSS JOIN LATERAL (SELECT referential_id FROM alias WHERE document_id = direct.document_id) AS own
      CROSS JOIN LATERAL (
          SELECT document_id FROM reference
           WHERE alias_id = own.referential_id AND resource_type_id = ANY (%(further_types)s::smallint[])
           LIMIT %(most)s
      ) AS r
     WHERE direct.resource_type_id = ANY (%(own_types)s::smallint[])
     LIMIT %(looked_at)s
), latest AS MATERIALIZED (
    SELECT d.*
      FROM (SELECT document_id FROM direct UNION SELECT document_id FROM beside UNION SELECT %(row)s) AS about
      CROSS JOIN LATERAL (
          SELECT id, change_version, coalesce(operation, 'insert') AS operation, resource_type_id, document_uuid,
                 body, last_modified_by, last_modified_at
            FROM document WHERE id = about.document_id LIMIT 1
      ) AS d
     ORDER BY d.change_version DESC LIMIT %(most)s
), deleted AS MATERIALIZED (
    SELECT * FROM deleted_document
     WHERE key_texts(key_values) @> ARRAY[lower(%(value)s::text)] AND {column} = %(value)s::text
     ORDER BY change_version DESC LIMIT %(most)s
), known AS (
    SELECT change_version, operation, resource_type_id, document_uuid, NULL AS natural_key, body,
           last_modified_by AS client, NULL::text AS username, last_modified_at AS at
      FROM latest
     UNION ALL
    SELECT former.change_version, former.operation, former.resource_type_id, former.document_uuid, NULL, former.body,
           former.last_modified_by, NULL, former.last_modified_at
      FROM latest
      CROSS JOIN LATERAL (
          SELECT * FROM superseded_document WHERE document_uuid = latest.document_uuid
           ORDER BY change_version DESC LIMIT %(most)s
      ) AS former
     UNION ALL
    SELECT change_version, 'delete', resource_type_id, document_uuid, natural_key, NULL, deleted_by, deleted_by_user,
           deleted_at
      FROM deleted
     UNION ALL
    SELECT last_change_version, last_operation, resource_type_id, document_uuid, natural_key, NULL,
           last_modified_by, NULL, last_modified_at
      FROM deleted
)
SELECT operation, resource_type_id, document_uuid,
       coalesce(last_ones.natural_key, natural_key(resource_type_id, body)), client,
       coalesce(username, (SELECT r.username FROM restoration r WHERE r.change_version = last_ones.change_version)),
       at, (SELECT count(*) FROM direct)
  FROM (SELECT * FROM known ORDER BY change_version DESC LIMIT %(most)s) AS last_ones
 ORDER BY change_version DESC
