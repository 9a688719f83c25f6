-- Whether claims have changed since a process read them is one number. A change waits for the row of another change that
-- has not ended yet, so the changes of the tree come one after the other and the check for circles sees them all.
CREATE TABLE claims_version (
    id      smallint PRIMARY KEY DEFAULT 1 CHECK (id = 1),
    version bigint NOT NULL
);
INSERT INTO claims_version (version) VALUES (1);

-- How full the buckets of rate limits are (security/rate_limits.py). Unlogged: written with every request for a token,
-- and no loss after a crash, when all buckets are full again.
CREATE UNLOGGED TABLE rate_limit (
    name    text PRIMARY KEY,
    full_at timestamptz NOT NULL
) WITH (fillfactor = 50);
