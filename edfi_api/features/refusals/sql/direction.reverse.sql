DELETE FROM refusal WHERE direction = 'sent';
DELETE FROM open_refusals WHERE direction = 'sent';
DROP INDEX refusal_open;
ALTER TABLE refusal DROP COLUMN direction;
CREATE UNIQUE INDEX refusal_open ON refusal (client, subject, problem, data_store, resource)
    WHERE resolved_at IS NULL;
COMMENT ON INDEX refusal_open IS 'One open entry for each client, subject and problem; which entries a success resolves.';
ALTER TABLE open_refusals DROP CONSTRAINT open_refusals_pkey;
ALTER TABLE open_refusals DROP COLUMN direction;
ALTER TABLE open_refusals ADD PRIMARY KEY (client, data_store, resource, problem, awaited_resource);

CREATE OR REPLACE FUNCTION count_open_refusals() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'INSERT' THEN
        INSERT INTO open_refusals AS kept
        SELECT client, data_store, resource, problem, awaited_resource, count(*)
          FROM added WHERE resolved_at IS NULL GROUP BY 1, 2, 3, 4, 5
        ON CONFLICT (client, data_store, resource, problem, awaited_resource)
        DO UPDATE SET entries = kept.entries + excluded.entries;
    ELSIF TG_OP = 'UPDATE' THEN
        INSERT INTO open_refusals AS kept
        SELECT client, data_store, resource, problem, awaited_resource, sum(change) FROM (
            SELECT client, data_store, resource, problem, awaited_resource, 1 FROM added WHERE resolved_at IS NULL
             UNION ALL
            SELECT client, data_store, resource, problem, awaited_resource, -1 FROM removed WHERE resolved_at IS NULL
        ) AS changed (client, data_store, resource, problem, awaited_resource, change)
         GROUP BY 1, 2, 3, 4, 5 HAVING sum(change) <> 0
        ON CONFLICT (client, data_store, resource, problem, awaited_resource)
        DO UPDATE SET entries = kept.entries + excluded.entries;
    ELSE
        UPDATE open_refusals kept SET entries = kept.entries - gone.entries
          FROM (
            SELECT client, data_store, resource, problem, awaited_resource, count(*) AS entries
              FROM removed WHERE resolved_at IS NULL GROUP BY 1, 2, 3, 4, 5
          ) AS gone
         WHERE (kept.client, kept.data_store, kept.resource, kept.problem, kept.awaited_resource)
             = (gone.client, gone.data_store, gone.resource, gone.problem, gone.awaited_resource);
    END IF;
    RETURN NULL;
END
$$;
