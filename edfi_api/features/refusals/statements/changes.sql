-- Written and deleted identities of these resources in a window of change versions, the oldest first.
WITH types AS (SELECT id, project, name FROM resource_type WHERE id = ANY (%(types)s))
SELECT changes.change_version, t.project, t.name, changes.ids, changes.client, extract(epoch FROM changes.at)::float8,
       changes.is_delete, changes.former_body::text
  FROM types t
  CROSS JOIN LATERAL (
    (SELECT d.change_version, array(SELECT referential_id FROM alias WHERE document_id = d.id) || d.document_uuid AS ids,
            d.last_modified_by AS client, d.last_modified_at AS at, false AS is_delete, NULL::jsonb AS former_body
       FROM document d
      WHERE d.resource_type_id = t.id AND d.change_version > %(after)s AND d.change_version <= %(last)s
      ORDER BY d.change_version LIMIT %(most)s)
     UNION ALL
    (SELECT d.change_version, d.aliases || d.document_uuid, d.deleted_by, d.deleted_at, true, NULL
       FROM deleted_document d
      WHERE d.resource_type_id = t.id AND d.change_version > %(after)s AND d.change_version <= %(last)s
      ORDER BY d.change_version LIMIT %(most)s)
     UNION ALL
    -- A key change resolves the old identity too, which only the version before it has.
    (SELECT k.change_version, ARRAY[k.document_uuid], now_known.client, now_known.at, false, former.body
       FROM key_change k
       JOIN LATERAL (
            SELECT last_modified_by, last_modified_at FROM document
             WHERE resource_type_id = t.id AND change_version = k.change_version
             UNION ALL
            SELECT last_modified_by, last_modified_at FROM superseded_document
             WHERE resource_type_id = t.id AND change_version = k.change_version
       ) AS now_known (client, at) ON true
       JOIN LATERAL (
            SELECT body FROM superseded_document s
             WHERE s.document_uuid = k.document_uuid AND s.change_version < k.change_version
             ORDER BY s.change_version DESC LIMIT 1
       ) AS former ON true
      WHERE k.resource_type_id = t.id AND k.change_version > %(after)s AND k.change_version <= %(last)s
      ORDER BY k.change_version LIMIT %(most)s)
  ) AS changes
 -- A change of a key has the version of its document: what continues after the last version must not leave half of them.
 ORDER BY changes.change_version FETCH FIRST %(most)s ROWS WITH TIES
