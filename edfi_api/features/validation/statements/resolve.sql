UPDATE validation_result r
   SET resolved_at = now(), resolved_run = %(run)s, resolution = 'repaired',
       validation_version = next_change_version()
 WHERE r.rule_id = %(rule)s AND r.resolved_at IS NULL AND {within}
   AND NOT EXISTS (
       SELECT FROM staged_violation s
        WHERE s.run_id = %(run)s AND s.rule_id = %(rule)s AND s.digest = r.digest
   )
