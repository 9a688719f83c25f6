-- Which API client wrote when, to the second: its own reads stay away from replicas for a while. In the database,
-- because the next request of the client may reach another process or another machine.
CREATE TABLE recent_writer (
    client bigint PRIMARY KEY,
    wrote_at timestamptz NOT NULL
) WITH (fillfactor = 50);
COMMENT ON TABLE recent_writer IS 'Last writes of API clients; filled only where there is a replica.';
