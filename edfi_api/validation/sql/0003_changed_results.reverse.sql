ALTER TABLE validation_result DROP COLUMN is_changed;
