-- Beside `is_switched_off`, and not in place of it: servers of the earlier version read that one while both run.
ALTER TABLE validation_rule
    ADD COLUMN is_switched_on boolean NOT NULL DEFAULT false,
    ADD CONSTRAINT validation_rule_has_one_switch CHECK (NOT (is_switched_on AND is_switched_off));
ALTER TABLE validation_rule
    ADD COLUMN is_on boolean NOT NULL GENERATED ALWAYS AS (NOT is_switched_off AND (is_active OR is_switched_on)) STORED;

COMMENT ON COLUMN validation_rule.is_switched_off IS 'Set in the admin: the rule is left out.';
COMMENT ON COLUMN validation_rule.is_switched_on IS 'Set in the admin: it is run although its file says that it is not active.';
COMMENT ON COLUMN validation_rule.is_on IS 'Whether the rule is run, as long as it has a file.';
COMMENT ON CONSTRAINT validation_rule_has_one_switch ON validation_rule IS 'It is switched off, or on, or neither.';
