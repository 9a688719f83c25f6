-- Rules that no file has any more, or that are not active.
WITH retired AS (
    UPDATE validation_rule SET retired_at = now(), published_version = NULL, modified_at = now()
     WHERE NOT id = ANY (%(active)s::integer[]) AND retired_at IS NULL
)
UPDATE validation_result r
   SET resolved_at = now(), resolved_run = %(run)s, resolution = 'rule retired',
       validation_version = next_change_version()
 WHERE NOT r.rule_id = ANY (%(active)s::integer[]) AND r.resolved_at IS NULL
