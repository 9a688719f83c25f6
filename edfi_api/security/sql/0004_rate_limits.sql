-- How full the buckets of rate limits are (security/rate_limits.py). Unlogged: written with every request for a token,
-- and no loss after a crash, when all buckets are full again.
CREATE UNLOGGED TABLE rate_limit (
    name    text PRIMARY KEY,
    full_at timestamptz NOT NULL
) WITH (fillfactor = 50);
