-- Whether a violation is open is read from its last episode. For `resolved_at IS NULL` the planner takes an
-- index of open results for an empty one while it has no statistics, and reads it again for each row.
INSERT INTO validation_result (
    result_uuid, result_key, episode, rule_id, digest, document_uuid, resource_type_id, natural_key, other_documents,
    organization, student, staff, contact, namespace, key, message, context, first_run
)
SELECT s.result_uuid, coalesce(last.result_key, gen_random_uuid()), coalesce(last.episode, 0) + 1, s.rule_id, s.digest,
       s.document_uuid, s.resource_type_id, s.natural_key, s.other_documents,
       s.organization, s.student, s.staff, s.contact, s.namespace, s.key, s.message, s.context, s.run_id
  FROM staged_violation s
  LEFT JOIN LATERAL (
    SELECT r.result_key, r.episode, r.resolved_at FROM validation_result r
     WHERE r.digest = s.digest ORDER BY r.episode DESC LIMIT 1
  ) last ON true
 WHERE s.run_id = %(run)s AND s.rule_id = %(rule)s AND (last.episode IS NULL OR last.resolved_at IS NOT NULL)
