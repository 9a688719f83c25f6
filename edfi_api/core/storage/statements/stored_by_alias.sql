-- What a merge replaces: body, version, and whether the policy allows to change it.
SELECT d.body, d.change_version, {is_allowed}
  FROM alias a JOIN document d ON d.id = a.document_id
 WHERE a.referential_id = %(referential_id)s
