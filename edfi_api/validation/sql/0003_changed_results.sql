-- Whether a result says something else than when it appeared, for the events of results.
ALTER TABLE validation_result ADD COLUMN is_changed boolean NOT NULL DEFAULT false;

COMMENT ON COLUMN validation_result.is_changed IS 'Whether it changed since it appeared.';
