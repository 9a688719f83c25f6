ALTER TABLE document ADD COLUMN natural_key text;
UPDATE document SET natural_key = natural_key(resource_type_id, body), operation = coalesce(operation, 'insert');
ALTER TABLE document ALTER COLUMN natural_key SET NOT NULL,
    ALTER COLUMN operation SET NOT NULL, ALTER COLUMN operation SET DEFAULT 'insert';
COMMENT ON COLUMN document.natural_key IS 'Identity as text, for people; uniqueness is the alias table''s.';
COMMENT ON COLUMN document.operation IS 'What made the present version: insert, update or key_change.';
