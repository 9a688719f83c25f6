-- Both columns repeat what the row says elsewhere. To drop one takes no time; a row shrinks when it is written next.
ALTER TABLE document ALTER COLUMN operation DROP NOT NULL, ALTER COLUMN operation DROP DEFAULT;
COMMENT ON COLUMN document.operation IS 'What made the present version: update or key_change; NULL for an insert.';

-- Views that read the column get the function in its place. Those of `create_sql_views` read it of descriptors, whose key
-- is a URI: the roles that read these may not read `resource_type`.
ALTER TABLE document RENAME COLUMN natural_key TO former_natural_key;
DO $$
DECLARE
    reader record;
BEGIN
    FOR reader IN
        SELECT DISTINCT c.oid::regclass AS name, pg_get_viewdef(c.oid) AS definition,
               coalesce(' WITH (' || array_to_string(c.reloptions, ', ') || ')', '') AS options
          FROM pg_depend d JOIN pg_rewrite r ON r.oid = d.objid JOIN pg_class c ON c.oid = r.ev_class
          JOIN pg_attribute a ON a.attrelid = d.refobjid AND a.attnum = d.refobjsubid
         WHERE d.classid = 'pg_rewrite'::regclass AND d.refobjid = 'document'::regclass
           AND a.attname = 'former_natural_key' AND c.relkind = 'v'
    LOOP
        EXECUTE format('CREATE OR REPLACE VIEW %s%s AS %s', reader.name, reader.options, regexp_replace(
            replace(reader.definition, 'substr(x.former_natural_key, 4)',
                    'concat(x.body->>''namespace'', ''#'', x.body->>''codeValue'')'),
            '((?:\w+|"(?:[^"]|"")+")\.)?former_natural_key', 'natural_key(\1resource_type_id, \1body)', 'g'
        ));
    END LOOP;
END
$$;
ALTER TABLE document DROP COLUMN former_natural_key;
