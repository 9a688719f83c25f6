-- Replaces the body of the document with this natural key (and id) and returns as the upsert does, or returns no row if
-- there is no such document, its body is the same, its references or the columns of authorization change, or the policy
-- does not allow it: the upsert or update then decides. Without these columns in SET, the conditions of their triggers, which PostgreSQL
-- parses at each statement, are not evaluated. The change version is compared again for the reason given in `write.sql`.
WITH existing AS MATERIALIZED (
    SELECT d.id, d.change_version
      FROM alias a JOIN document d ON d.id = a.document_id
     WHERE a.referential_id = %(referential_id)s{and_has_id} AND d.body <> %(body)s::jsonb
       AND ({securables}) IS NOT DISTINCT FROM ({new_securables})
       AND (
           SELECT count(*) = cardinality(%(targets)s::uuid[])
                  AND coalesce(bool_and(r.alias_id = ANY (%(targets)s::uuid[])), true)
             FROM reference r WHERE r.document_id = d.id
       ){and_allowed}
), {links}
UPDATE document d
   SET body = %(body)s::jsonb, linked_types = l.types, linked_ids = l.ids,
       last_modified_at = now(), last_modified_by = %(client)s::bigint
  FROM existing e CROSS JOIN links l
 WHERE d.id = e.id AND d.change_version = e.change_version AND l.are_there
RETURNING 'updated', d.document_uuid::text, d.change_version
