-- How many results are open; kept by triggers, since counting a million results would take a second each time.
CREATE TABLE open_validation_results (
    rule_id integer NOT NULL,
    organization bigint NOT NULL,
    entries bigint NOT NULL,
    PRIMARY KEY (rule_id, organization)
);

CREATE FUNCTION count_open_validation_results() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'INSERT' THEN
        INSERT INTO open_validation_results AS kept
        SELECT rule_id, coalesce(organization, 0), count(*) FROM added WHERE resolved_at IS NULL GROUP BY 1, 2
        ON CONFLICT (rule_id, organization) DO UPDATE SET entries = kept.entries + excluded.entries;
    ELSIF TG_OP = 'UPDATE' THEN
        INSERT INTO open_validation_results AS kept
        SELECT rule_id, coalesce(organization, 0), sum(change) FROM (
            SELECT rule_id, organization, 1 FROM added WHERE resolved_at IS NULL
             UNION ALL
            SELECT rule_id, organization, -1 FROM removed WHERE resolved_at IS NULL
        ) AS changed (rule_id, organization, change)
         GROUP BY 1, 2 HAVING sum(change) <> 0
        ON CONFLICT (rule_id, organization) DO UPDATE SET entries = kept.entries + excluded.entries;
    ELSE
        UPDATE open_validation_results kept SET entries = kept.entries - gone.entries
          FROM (
            SELECT rule_id, coalesce(organization, 0) AS organization, count(*) AS entries
              FROM removed WHERE resolved_at IS NULL GROUP BY 1, 2
          ) AS gone
         WHERE (kept.rule_id, kept.organization) = (gone.rule_id, gone.organization);
    END IF;
    RETURN NULL;
END
$$;

LOCK TABLE validation_result IN SHARE ROW EXCLUSIVE MODE;

INSERT INTO open_validation_results
SELECT rule_id, coalesce(organization, 0), count(*) FROM validation_result WHERE resolved_at IS NULL GROUP BY 1, 2;

CREATE TRIGGER result_is_added AFTER INSERT ON validation_result
    REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION count_open_validation_results();
CREATE TRIGGER result_is_changed AFTER UPDATE ON validation_result
    REFERENCING OLD TABLE AS removed NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION count_open_validation_results();
CREATE TRIGGER result_is_removed AFTER DELETE ON validation_result
    REFERENCING OLD TABLE AS removed FOR EACH STATEMENT EXECUTE FUNCTION count_open_validation_results();

COMMENT ON TABLE open_validation_results IS 'Numbers of open results by rule and organization.';
COMMENT ON COLUMN open_validation_results.organization IS '0 for results without one.';
COMMENT ON FUNCTION count_open_validation_results IS 'Keeps open_validation_results.';
COMMENT ON TRIGGER result_is_added ON validation_result IS 'Counts open results.';
COMMENT ON TRIGGER result_is_changed ON validation_result IS 'Counts open results.';
COMMENT ON TRIGGER result_is_removed ON validation_result IS 'Counts open results.';
