-- Violations that runs of rules have found. They are written by runs, never by requests, so indexes cost no request
-- anything.

-- The securable columns are those of the offending document where it has them, so that the conditions of authorization
-- strategies apply to results as to documents. `result_key` is random: a digest of the natural key could be guessed by
-- clients that may not read the document.
--
-- Results take their versions from the sequence of documents, so that clients follow them by the versions that
-- `changeQueries/v1/availableChangeVersions` answers, as they do documents.
CREATE TABLE validation_result (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    result_uuid uuid NOT NULL UNIQUE,
    result_key uuid NOT NULL,
    episode integer NOT NULL,
    rule_id integer NOT NULL REFERENCES validation_rule (id),
    digest bytea NOT NULL,
    document_uuid uuid,
    resource_type_id smallint,
    natural_key text,
    other_documents uuid[] NOT NULL DEFAULT '{}',
    organization bigint,
    student text,
    staff text,
    contact text,
    namespace text,
    key text NOT NULL DEFAULT '',
    message text NOT NULL,
    context jsonb NOT NULL DEFAULT '{}',
    first_run bigint NOT NULL,
    appeared_at timestamptz NOT NULL DEFAULT now(),
    resolved_run bigint,
    resolved_at timestamptz,
    resolution text,
    validation_version bigint NOT NULL DEFAULT next_change_version(),
    is_changed boolean NOT NULL DEFAULT false,
    changed_at timestamptz,
    UNIQUE (digest, episode)
);
COMMENT ON TABLE validation_result IS 'Violations of rules, one row for each time that one appeared.';
COMMENT ON COLUMN validation_result.result_key IS 'The same for all episodes of a violation.';
COMMENT ON COLUMN validation_result.digest IS 'Identifies the violation: rule, document or organization, key.';
COMMENT ON COLUMN validation_result.other_documents IS 'Further documents about which the result says something.';
COMMENT ON COLUMN validation_result.resolved_run IS 'The run that found it no more.';
COMMENT ON COLUMN validation_result.is_changed IS 'Whether it changed since it appeared.';
COMMENT ON COLUMN validation_result.validation_version IS
    'Moves whenever a result appears, changes or is resolved; from the sequence of the versions of documents.';
COMMENT ON COLUMN validation_result.changed_at IS 'When it changed for the last time since it appeared.';

CREATE UNIQUE INDEX validation_result_open ON validation_result (digest) WHERE resolved_at IS NULL;
COMMENT ON INDEX validation_result_open IS 'A violation is open once.';

CREATE INDEX validation_result_open_of_rule ON validation_result (rule_id, id) WHERE resolved_at IS NULL;
COMMENT ON INDEX validation_result_open_of_rule IS 'Open results of a rule, to compare with what a run found.';

CREATE INDEX validation_result_organization ON validation_result (organization, id) WHERE resolved_at IS NULL;
COMMENT ON INDEX validation_result_organization IS 'Open results of an organization: clients, the admin.';

CREATE INDEX validation_result_document ON validation_result (document_uuid);
COMMENT ON INDEX validation_result_document IS 'Results about a document: the admin, the purge.';

CREATE INDEX validation_result_version ON validation_result (validation_version);
COMMENT ON INDEX validation_result_version IS 'Results in the order of their changes: clients that follow them, events.';

CREATE INDEX validation_result_to_purge ON validation_result (resolved_at) WHERE resolved_at IS NOT NULL;
COMMENT ON INDEX validation_result_to_purge IS 'Results resolved before a day: the purge.';

CREATE INDEX validation_result_first_run ON validation_result (first_run);
COMMENT ON INDEX validation_result_first_run IS 'Results that appeared in a run: its counts.';

CREATE INDEX validation_result_resolved_run ON validation_result (resolved_run) WHERE resolved_run IS NOT NULL;
COMMENT ON INDEX validation_result_resolved_run IS 'Results that a run resolved: its counts.';

CREATE INDEX validation_result_page ON validation_result (id) WHERE resolved_at IS NULL;
COMMENT ON INDEX validation_result_page IS 'Pages of open results: /validation/v1, the admin.';

CREATE INDEX validation_result_student ON validation_result (student) WHERE student IS NOT NULL;
COMMENT ON INDEX validation_result_student IS 'Results about a student: /validation/v1, the search of the admin.';

CREATE INDEX validation_result_staff ON validation_result (staff) WHERE staff IS NOT NULL;
COMMENT ON INDEX validation_result_staff IS 'Results about a staff member: /validation/v1, the search of the admin.';

CREATE INDEX validation_result_natural_key ON validation_result USING hash (natural_key);
COMMENT ON INDEX validation_result_natural_key IS 'Results about a document by its key: /validation/v1, the search of the admin.';

-- The other indexes of rules and organizations have open results only.
CREATE INDEX validation_result_resolved_page ON validation_result (id) WHERE resolved_at IS NOT NULL;
COMMENT ON INDEX validation_result_resolved_page IS 'Pages of resolved results: /validation/v1, the admin.';

CREATE INDEX validation_result_of_rule ON validation_result (rule_id, id);
COMMENT ON INDEX validation_result_of_rule IS 'Results of a rule that are resolved, or of any state: /validation/v1, the admin.';

CREATE INDEX validation_result_of_organization ON validation_result (organization, id);
COMMENT ON INDEX validation_result_of_organization IS 'Likewise those of an organization.';

CREATE INDEX validation_result_resolved_of_organization ON validation_result (organization, id) WHERE resolved_at IS NOT NULL;
COMMENT ON INDEX validation_result_resolved_of_organization IS
    'Resolved results of an organization: clients that read or follow their own.';

CREATE INDEX validation_result_appeared ON validation_result (appeared_at);
COMMENT ON INDEX validation_result_appeared IS 'Results that appeared in a time: the admin, /validation/v1.';

-- Kept by triggers, since counting a million results would take a second each time.
CREATE TABLE open_validation_results (
    rule_id integer NOT NULL,
    organization bigint NOT NULL,
    entries bigint NOT NULL,
    PRIMARY KEY (rule_id, organization)
);
COMMENT ON TABLE open_validation_results IS 'Numbers of open results by rule and organization.';
COMMENT ON COLUMN open_validation_results.organization IS '0 for results without one.';

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
COMMENT ON FUNCTION count_open_validation_results IS 'Keeps open_validation_results.';

CREATE TRIGGER result_is_added AFTER INSERT ON validation_result
    REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION count_open_validation_results();
COMMENT ON TRIGGER result_is_added ON validation_result IS 'Counts open results.';

CREATE TRIGGER result_is_changed AFTER UPDATE ON validation_result
    REFERENCING OLD TABLE AS removed NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION count_open_validation_results();
COMMENT ON TRIGGER result_is_changed ON validation_result IS 'Counts open results.';

CREATE TRIGGER result_is_removed AFTER DELETE ON validation_result
    REFERENCING OLD TABLE AS removed FOR EACH STATEMENT EXECUTE FUNCTION count_open_validation_results();
COMMENT ON TRIGGER result_is_removed ON validation_result IS 'Counts open results.';

-- Lost in a crash of the server, as the run is.
CREATE UNLOGGED TABLE staged_violation (
    run_id bigint NOT NULL,
    rule_id integer NOT NULL,
    digest bytea NOT NULL,
    result_uuid uuid NOT NULL,
    document_uuid uuid,
    resource_type_id smallint,
    natural_key text,
    other_documents uuid[] NOT NULL,
    organization bigint,
    student text,
    staff text,
    contact text,
    namespace text,
    key text NOT NULL,
    message text NOT NULL,
    context jsonb NOT NULL,
    PRIMARY KEY (run_id, rule_id, digest)
);
COMMENT ON TABLE staged_violation IS 'Violations found by a run that are not published yet.';
