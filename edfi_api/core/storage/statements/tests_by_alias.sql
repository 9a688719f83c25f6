-- For a denied write by natural key: the policy's tests of the stored document, which has the same identity.
SELECT true AS is_same_identity{tests}
  FROM alias a JOIN document d ON d.id = a.document_id
 WHERE a.referential_id = %(referential_id)s
