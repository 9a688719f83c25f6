-- The other indexes of rules and organizations have open results only.
CREATE INDEX validation_result_resolved_page ON validation_result (id) WHERE resolved_at IS NOT NULL;
CREATE INDEX validation_result_of_rule ON validation_result (rule_id, id);
CREATE INDEX validation_result_of_organization ON validation_result (organization, id);

COMMENT ON INDEX validation_result_resolved_page IS 'Pages of resolved results: /validation/v1, the admin.';
COMMENT ON INDEX validation_result_of_rule IS 'Results of a rule that are resolved, or of any state: /validation/v1, the admin.';
COMMENT ON INDEX validation_result_of_organization IS 'Likewise those of an organization.';
