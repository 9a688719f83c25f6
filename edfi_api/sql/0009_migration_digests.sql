-- The text of each migration as it was applied, by its SHA-256. Django knows applied migrations by name alone, so tables
-- that another text of the same name made would be taken for those that this version expects.
CREATE TABLE migration_digest (
    app text NOT NULL,
    name text NOT NULL,
    digest text NOT NULL,
    PRIMARY KEY (app, name)
);
COMMENT ON TABLE migration_digest IS 'What migrations were when they were applied; filled after each migrate.';
