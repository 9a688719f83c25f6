-- Few clients are never refused, but of those PostgreSQL would read every hour to find that out.
CREATE INDEX submission_hour_accepted ON submission_hour (client, hour) WHERE accepted > 0;
CREATE INDEX submission_hour_refused ON submission_hour (client, hour) WHERE refused > 0;

COMMENT ON INDEX submission_hour_accepted IS 'When a client was successful last: the admin.';
COMMENT ON INDEX submission_hour_refused IS 'When a client was refused last: the admin.';
