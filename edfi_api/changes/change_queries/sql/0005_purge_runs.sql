-- When purges ran last, for the front page of the admin.
CREATE TABLE purge_run (
    name text PRIMARY KEY,
    finished_at timestamptz NOT NULL
);
COMMENT ON TABLE purge_run IS 'When each kind of purge ran last.';
