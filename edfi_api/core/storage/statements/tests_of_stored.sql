-- For a denied read or delete: the policy's tests of the stored document.
SELECT true AS is_same_identity{tests}
  FROM document d
 WHERE d.document_uuid = %(document_uuid)s AND d.resource_type_id = %(resource_type)s
