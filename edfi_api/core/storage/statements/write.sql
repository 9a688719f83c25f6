-- Part of upsert and update, which differ in how they find or insert the row: `existing` and `inserted`.
updated AS (
    -- The change version is compared again because the row may have changed since the snapshot; the references
    -- below would then be compared with outdated rows. No row is updated in that case.
    UPDATE document d
       SET body = %(body)s::jsonb, ({securables}) = ROW({new_securables}),
           (linked_types, linked_ids) = (SELECT types, ids FROM links),
           last_modified_at = now(), last_modified_by = %(client)s::bigint
      FROM existing e
     WHERE d.id = e.id AND e.is_same_identity AND d.change_version = e.change_version AND e.is_expected{and_allowed}
       -- CASE keeps PostgreSQL from evaluating the links first, even if the body is unchanged.
       AND CASE WHEN NOT e.is_same_body THEN (SELECT are_there FROM links) END
    RETURNING d.id, d.document_uuid, d.change_version
), written AS (
    SELECT 'inserted' AS outcome, * FROM inserted UNION ALL SELECT 'updated', * FROM updated
), new_aliases AS (
    INSERT INTO alias (referential_id, document_id)
    SELECT unnest(%(aliases)s::uuid[]), id FROM inserted
), new_references AS (
    INSERT INTO reference (document_id, resource_type_id, alias_id)
    SELECT w.id, %(resource_type)s, target FROM written w CROSS JOIN unnest(%(targets)s::uuid[]) AS target
    ON CONFLICT DO NOTHING
), old_references AS (
    DELETE FROM reference r USING updated u
     WHERE r.document_id = u.id AND r.alias_id <> ALL (%(targets)s::uuid[])
)
SELECT outcome, document_uuid::text, change_version FROM written
UNION ALL
SELECT CASE {denied}WHEN NOT is_expected THEN 'stale'
            WHEN NOT is_same_identity THEN 'other identity'
            WHEN is_same_body THEN 'unchanged'
            WHEN (SELECT are_there FROM links) THEN 'stale'
            ELSE 'missing target'
       END, document_uuid::text, change_version
  FROM existing WHERE NOT EXISTS (SELECT FROM updated)
