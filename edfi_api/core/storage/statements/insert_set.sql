-- As `insert.sql`, for the documents of a set: inserts those that are not stored, whose targets are, and which the policy
-- allows. Returns their positions with what the upsert returns. The limited subqueries look one row up each, whatever
-- PostgreSQL expects of the sizes of the tables. In the order of ids, two sets with the same documents do not end in a
-- deadlock.
WITH {staged}, {links}, inserted AS (
    INSERT INTO document (document_uuid, resource_type_id, body, linked_types, linked_ids, created_by,
                          last_modified_by, {securables})
    SELECT s.document_uuid, s.resource_type_id, s.body, l.types, l.ids, %(client)s::bigint,
           %(client)s::bigint, {new_securables}
      FROM staged_document s LEFT JOIN links l USING (position)
           LEFT JOIN LATERAL (
               SELECT true AS is_there FROM alias WHERE referential_id = s.referential_id LIMIT 1
           ) stored ON true
     WHERE stored.is_there IS NULL AND coalesce(l.number, 0) = cardinality(s.linked)
       AND NOT EXISTS (
           SELECT FROM unnest(s.targets) AS target
                  LEFT JOIN LATERAL (
                      SELECT true AS is_there FROM alias WHERE referential_id = target LIMIT 1
                  ) stored ON true
            WHERE stored.is_there IS NULL AND target <> ALL (s.linked)
       ){and_allowed}
     ORDER BY s.position
    RETURNING id, document_uuid, change_version
), new AS MATERIALIZED (
    SELECT s.position, i.id, i.document_uuid, i.change_version, s.resource_type_id, s.referential_id, s.superclass_id,
           s.targets
      FROM inserted i JOIN staged_document s USING (document_uuid)
), new_aliases AS (
    INSERT INTO alias (referential_id, document_id)
    SELECT referential_id, id FROM new
     UNION ALL
    SELECT superclass_id, id FROM new WHERE superclass_id IS NOT NULL
     ORDER BY 1
), new_references AS (
    INSERT INTO reference (document_id, resource_type_id, alias_id)
    SELECT id, resource_type_id, unnest(targets) FROM new
)
SELECT position, 'inserted', document_uuid::text, change_version FROM new
