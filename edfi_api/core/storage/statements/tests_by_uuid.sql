-- For a denied write by id: whether the document keeps its identity, and the policy's tests of it.
SELECT EXISTS (SELECT FROM alias a WHERE a.document_id = d.id AND a.referential_id = %(referential_id)s)
       AS is_same_identity{tests}
  FROM document d
 WHERE d.document_uuid = %(document_uuid)s AND d.resource_type_id = %(resource_type)s
