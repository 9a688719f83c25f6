-- Which of these versions a policy allows, each by its own values, as rows of the history.
SELECT d.change_version
  FROM (
    SELECT sent.change_version, %(type)s::smallint AS resource_type_id, %(document_uuid)s::uuid AS document_uuid,
           sent.organization, sent.student, sent.contact, sent.staff, sent.namespace, sent.opens_pathway,
           sent.began, sent.ended, %(created_by)s::bigint AS created_by,
           coalesce(sent.key_values, key_values(%(type)s::smallint, sent.body)) AS key_values
      FROM jsonb_to_recordset(%(versions)s::jsonb) AS sent (
        change_version bigint, began bigint, ended bigint, organization bigint, student text, contact text, staff text, namespace text,
        opens_pathway boolean, key_values jsonb, body jsonb
      )
  ) AS d
 WHERE {using}
