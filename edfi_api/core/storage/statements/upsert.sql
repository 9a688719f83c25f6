-- Inserts the document, or replaces the one with its natural key. Returns outcome, id and version; the last two are NULL
-- where there is no document.
--
-- `expected_version` is the change version that may be replaced, 0 for an insert only, NULL without a condition. Inserts
-- get their version from the column's default, updates from a trigger. All parts of the statement see one snapshot; what
-- a concurrent transaction has changed since is a constraint violation or the outcome 'stale'. With a policy, a denied
-- write changes nothing.
WITH {new_values}existing AS (
    SELECT d.id, d.document_uuid, d.change_version,
           d.body = %(body)s::jsonb AS is_same_body, true AS is_same_identity,
           coalesce(%(expected_version)s::bigint, d.change_version) = d.change_version AS is_expected{is_allowed}
      FROM alias a JOIN document d ON d.id = a.document_id
     WHERE a.referential_id = %(referential_id)s
), {links}, inserted AS (
    INSERT INTO document (document_uuid, resource_type_id, body, linked_types, linked_ids, created_by,
                          last_modified_by, {securables})
    SELECT %(document_uuid)s::uuid, %(resource_type)s::smallint, %(body)s::jsonb, types, ids, %(client)s::bigint,
           %(client)s::bigint, {new_securables}
      FROM links
     WHERE NOT EXISTS (SELECT FROM existing) AND coalesce(%(expected_version)s::bigint, 0) = 0{and_new_allowed}
       AND are_there
    RETURNING id, document_uuid, change_version
), {write}
UNION ALL
SELECT CASE {new_denied}WHEN %(expected_version)s::bigint <> 0 THEN 'stale' ELSE 'missing target' END, NULL, NULL
 WHERE NOT EXISTS (SELECT FROM existing) AND NOT EXISTS (SELECT FROM inserted)
