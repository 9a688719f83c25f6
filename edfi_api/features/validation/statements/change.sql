UPDATE validation_result r
   SET document_uuid = s.document_uuid, other_documents = s.other_documents, organization = s.organization,
       student = s.student, staff = s.staff, contact = s.contact, namespace = s.namespace,
       message = s.message, context = s.context, is_changed = true, changed_at = now(),
       validation_version = next_change_version()
  FROM staged_violation s
 WHERE s.run_id = %(run)s AND s.rule_id = %(rule)s AND r.digest = s.digest AND r.resolved_at IS NULL
   AND (r.document_uuid, r.other_documents, r.organization, r.student, r.staff, r.contact, r.namespace, r.message, r.context)
       IS DISTINCT FROM
       (s.document_uuid, s.other_documents, s.organization, s.student, s.staff, s.contact, s.namespace, s.message, s.context)
