COMMENT ON COLUMN validation_rule.is_switched_off IS 'Set in the admin.';
ALTER TABLE validation_rule DROP COLUMN is_on, DROP COLUMN is_switched_on;
