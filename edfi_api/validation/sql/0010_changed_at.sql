ALTER TABLE validation_result ADD COLUMN changed_at timestamptz;

-- When earlier changes were made is not known. The latest possible time hides none of them from clients that ask what
-- changed since; few results change, and the others are not written.
UPDATE validation_result SET changed_at = now() WHERE is_changed AND resolved_at IS NULL;

COMMENT ON COLUMN validation_result.changed_at IS 'When it changed for the last time since it appeared.';
