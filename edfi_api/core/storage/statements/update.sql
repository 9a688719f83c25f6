-- Replaces the document with an id. Returns as the upsert does, or no row if there is no such document.
WITH {new_values}existing AS (
    SELECT d.id, d.document_uuid, d.change_version,
           d.body = %(body)s::jsonb AS is_same_body,
           EXISTS (
               SELECT FROM alias a WHERE a.document_id = d.id AND a.referential_id = %(referential_id)s
           ) AS is_same_identity,
           coalesce(%(expected_version)s::bigint, d.change_version) = d.change_version AS is_expected{is_allowed}
      FROM document d
     WHERE d.document_uuid = %(document_uuid)s AND d.resource_type_id = %(resource_type)s
), {links}, inserted AS (
    SELECT id, document_uuid, change_version FROM existing WHERE false
), {write}
