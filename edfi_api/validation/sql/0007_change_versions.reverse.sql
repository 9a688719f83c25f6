CREATE SEQUENCE validation_version AS bigint;
SELECT setval('validation_version', coalesce(pg_sequence_last_value('change_version'), 0) + 1, false);
COMMENT ON SEQUENCE validation_version IS 'Versions of results, for clients that follow them.';
COMMENT ON COLUMN validation_result.validation_version IS NULL;
ALTER TABLE validation_result ALTER validation_version SET DEFAULT nextval('validation_version');
