-- Documents that a connection sends to another server may be refused there. Such entries stand beside those of writes that
-- were received; what is written here does not resolve them.
ALTER TABLE refusal ADD COLUMN direction text NOT NULL DEFAULT 'received' CHECK (direction IN ('received', 'sent'));
COMMENT ON COLUMN refusal.direction IS 'received: refused by this server; sent: by another one, to which a connection had sent it.';

DROP INDEX refusal_open;
CREATE UNIQUE INDEX refusal_open ON refusal (client, subject, problem, data_store, resource, direction)
    WHERE resolved_at IS NULL;
COMMENT ON INDEX refusal_open IS 'One open entry for each client, subject, problem and direction; which entries a success resolves.';

ALTER TABLE open_refusals ADD COLUMN direction text NOT NULL DEFAULT 'received';
ALTER TABLE open_refusals DROP CONSTRAINT open_refusals_pkey;
ALTER TABLE open_refusals ADD PRIMARY KEY (client, data_store, resource, problem, awaited_resource, direction);

CREATE OR REPLACE FUNCTION count_open_refusals() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'INSERT' THEN
        INSERT INTO open_refusals AS kept
        SELECT client, data_store, resource, problem, awaited_resource, count(*), direction
          FROM added WHERE resolved_at IS NULL GROUP BY 1, 2, 3, 4, 5, 7
        ON CONFLICT (client, data_store, resource, problem, awaited_resource, direction)
        DO UPDATE SET entries = kept.entries + excluded.entries;
    ELSIF TG_OP = 'UPDATE' THEN
        INSERT INTO open_refusals AS kept
        SELECT client, data_store, resource, problem, awaited_resource, sum(change), direction FROM (
            SELECT client, data_store, resource, problem, awaited_resource, direction, 1
              FROM added WHERE resolved_at IS NULL
             UNION ALL
            SELECT client, data_store, resource, problem, awaited_resource, direction, -1
              FROM removed WHERE resolved_at IS NULL
        ) AS changed (client, data_store, resource, problem, awaited_resource, direction, change)
         GROUP BY 1, 2, 3, 4, 5, 7 HAVING sum(change) <> 0
        ON CONFLICT (client, data_store, resource, problem, awaited_resource, direction)
        DO UPDATE SET entries = kept.entries + excluded.entries;
    ELSE
        UPDATE open_refusals kept SET entries = kept.entries - gone.entries
          FROM (
            SELECT client, data_store, resource, problem, awaited_resource, direction, count(*) AS entries
              FROM removed WHERE resolved_at IS NULL GROUP BY 1, 2, 3, 4, 5, 6
          ) AS gone
         WHERE (kept.client, kept.data_store, kept.resource, kept.problem, kept.awaited_resource, kept.direction)
             = (gone.client, gone.data_store, gone.resource, gone.problem, gone.awaited_resource, gone.direction);
    END IF;
    RETURN NULL;
END
$$;
