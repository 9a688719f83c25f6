DROP FUNCTION natural_key(document);
DROP FUNCTION natural_key(smallint, jsonb);
ALTER TABLE resource_type DROP COLUMN key_paths;
