-- What servers share beside documents.

-- Which API client wrote when, to the second: for a while its reads do not go to replicas. In the database, because the
-- next request of the client may reach another process or machine.
CREATE TABLE recent_writer (
    client bigint PRIMARY KEY,
    wrote_at timestamptz NOT NULL
) WITH (fillfactor = 50);
COMMENT ON TABLE recent_writer IS 'Last writes of API clients; filled only where there is a replica.';

-- The text of each migration as it was applied, by its SHA-256. Django knows applied migrations by name alone, so tables
-- that another text of the same name made would be taken for those that this version expects.
CREATE TABLE migration_digest (
    app text NOT NULL,
    name text NOT NULL,
    digest text NOT NULL,
    PRIMARY KEY (app, name)
);
COMMENT ON TABLE migration_digest IS 'What migrations were when they were applied; filled after each migrate.';
