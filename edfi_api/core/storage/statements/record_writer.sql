INSERT INTO recent_writer (client, wrote_at) VALUES (%(client)s, clock_timestamp())
ON CONFLICT (client) DO UPDATE SET wrote_at = greatest(recent_writer.wrote_at, excluded.wrote_at)
RETURNING client
