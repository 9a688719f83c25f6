-- A row is written as a whole each time that the process has counted more.
INSERT INTO run_minute (client, minute, data_store, process, first_at, last_at, counts)
SELECT client, minute, data_store, process, first_at, last_at, counts
  FROM jsonb_to_recordset(%(rows)s::jsonb) AS r (
    client text, minute timestamptz, data_store bigint, process uuid, first_at timestamptz, last_at timestamptz,
    counts jsonb)
ON CONFLICT (client, minute, data_store, process)
DO UPDATE SET last_at = excluded.last_at, counts = excluded.counts
