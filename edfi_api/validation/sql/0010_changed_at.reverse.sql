ALTER TABLE validation_result DROP COLUMN changed_at;
