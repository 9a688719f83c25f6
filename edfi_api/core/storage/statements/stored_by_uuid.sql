-- What a merge replaces: body, version, and whether the policy allows to change it.
SELECT d.body, d.change_version, {is_allowed}
  FROM document d
 WHERE d.document_uuid = %(document_uuid)s AND d.resource_type_id = %(resource_type)s
