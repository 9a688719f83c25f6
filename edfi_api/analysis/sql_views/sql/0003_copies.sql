-- Views that read from tables of their own, which refresh_sql_views keeps.
CREATE TABLE sql_copy (
    schema text NOT NULL,
    name text NOT NULL,
    digest text NOT NULL,
    resource_types smallint[] NOT NULL,
    primary_key text[] NOT NULL,
    change_version bigint,
    refreshed_at timestamptz,
    PRIMARY KEY (schema, name)
);
COMMENT ON TABLE sql_copy IS 'Views that read from tables instead of documents.';
COMMENT ON COLUMN sql_copy.digest IS 'SHA-256 of the statement of the live view.';
COMMENT ON COLUMN sql_copy.resource_types IS 'Those of the documents that the rows are made from.';
COMMENT ON COLUMN sql_copy.change_version IS 'All changes up to this version are in the table; NULL until it is filled.';
