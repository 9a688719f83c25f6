-- As `update_body.sql`, for the documents of a set. Returns the positions of those that it has updated, with what the
-- upsert returns. A document that a concurrent transaction has locked is left out, so that the others need not wait.
WITH {staged}, existing AS MATERIALIZED (
    SELECT s.position, d.id, d.change_version, s.body, s.linked
      FROM staged_document s
           CROSS JOIN LATERAL (
               SELECT d.* FROM alias a JOIN document d ON d.id = a.document_id
                WHERE a.referential_id = s.referential_id
                  FOR NO KEY UPDATE OF d SKIP LOCKED
           ) d
     WHERE d.body <> s.body AND ({stored_securables}) IS NOT DISTINCT FROM ({new_securables})
       AND (
           SELECT count(*) = cardinality(s.targets) AND coalesce(bool_and(r.alias_id = ANY (s.targets)), true)
             FROM reference r WHERE r.document_id = d.id
       ){and_allowed}
), {links}
UPDATE document d
   SET body = e.body, linked_types = l.types, linked_ids = l.ids,
       last_modified_at = now(), last_modified_by = %(client)s::bigint
  FROM existing e LEFT JOIN links l USING (position)
 WHERE d.id = e.id AND d.id = ANY (ARRAY(SELECT id FROM existing)) AND d.change_version = e.change_version
   AND coalesce(l.number, 0) = cardinality(e.linked)
RETURNING e.position, 'updated', d.document_uuid::text, d.change_version
