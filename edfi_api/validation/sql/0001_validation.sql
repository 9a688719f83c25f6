-- Rules over stored documents, their runs, and the violations that they found.

CREATE TABLE validation_rule (
    id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    rule_uuid uuid NOT NULL DEFAULT gen_random_uuid() UNIQUE,
    source text NOT NULL,
    identifier text NOT NULL,
    version text NOT NULL,
    digest text NOT NULL,
    file text NOT NULL,
    language text NOT NULL,
    resource text NOT NULL,
    severity text NOT NULL,
    category text NOT NULL,
    short_description text NOT NULL,
    description text NOT NULL,
    help_url text NOT NULL,
    external_id text NOT NULL,
    logic text NOT NULL,
    is_active boolean NOT NULL,
    is_switched_off boolean NOT NULL DEFAULT false,
    declared_parameters jsonb NOT NULL DEFAULT '{}',
    parameters jsonb NOT NULL DEFAULT '{}',
    document_types smallint[] NOT NULL DEFAULT '{}',
    published_version bigint,
    published_basis text,
    published_run bigint,
    retired_at timestamptz,
    modified_at timestamptz NOT NULL DEFAULT now(),
    UNIQUE (source, identifier)
);

CREATE TABLE validation_run (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    run_uuid uuid NOT NULL DEFAULT gen_random_uuid() UNIQUE,
    run_identifier text NOT NULL UNIQUE,
    host text NOT NULL,
    started_by text NOT NULL,
    started_at timestamptz NOT NULL DEFAULT now(),
    finished_at timestamptz,
    status text NOT NULL DEFAULT 'Running' CHECK (status IN ('Running', 'Completed', 'Stopped')),
    change_version bigint NOT NULL
);

CREATE TABLE validation_run_rule (
    run_id bigint NOT NULL REFERENCES validation_run (id) ON DELETE CASCADE,
    rule_id integer NOT NULL REFERENCES validation_rule (id),
    outcome text NOT NULL CHECK (outcome IN ('published', 'truncated', 'timed out', 'failed')),
    is_full boolean NOT NULL,
    reason text NOT NULL,
    seconds double precision NOT NULL,
    found bigint NOT NULL DEFAULT 0,
    unplaced bigint NOT NULL DEFAULT 0,
    appeared bigint NOT NULL DEFAULT 0,
    changed bigint NOT NULL DEFAULT 0,
    resolved bigint NOT NULL DEFAULT 0,
    PRIMARY KEY (run_id, rule_id)
);

-- Moves whenever a result appears, changes or is resolved. Taken under the lock of `publish.sql`, so versions become
-- visible in their order.
CREATE SEQUENCE validation_version AS bigint;

-- The securable columns are those of the offending document where it has them, so that the conditions of authorization
-- strategies apply to results as to documents. `result_key` is random: a digest of the natural key could be guessed by
-- clients that may not read the document.
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
    validation_version bigint NOT NULL DEFAULT nextval('validation_version'),
    UNIQUE (digest, episode)
);

CREATE UNIQUE INDEX validation_result_open ON validation_result (digest) WHERE resolved_at IS NULL;
CREATE INDEX validation_result_open_of_rule ON validation_result (rule_id, id) WHERE resolved_at IS NULL;
CREATE INDEX validation_result_organization ON validation_result (organization, id) WHERE resolved_at IS NULL;
CREATE INDEX validation_result_document ON validation_result (document_uuid);
CREATE INDEX validation_result_version ON validation_result (validation_version);
CREATE INDEX validation_result_to_purge ON validation_result (resolved_at) WHERE resolved_at IS NOT NULL;

-- Violations found by a run that are not published yet. Lost in a crash of the server, as the run is.
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

-- IMMUTABLE because a number never changes its meaning: the planner then knows it, and plans for this resource.
CREATE FUNCTION resource_type_number(resource text) RETURNS smallint LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
DECLARE
    number smallint;
BEGIN
    SELECT id INTO number FROM resource_type
     WHERE lower(endpoint) = lower(split_part(resource, '/', 2))
       AND regexp_replace(lower(project), '[^a-z0-9]', '', 'g')
         = regexp_replace(lower(split_part(resource, '/', 1)), '[^a-z0-9]', '', 'g');
    IF number IS NULL THEN
        RAISE undefined_object USING MESSAGE = format('there is no resource "%s"; one reads like ed-fi/students', resource);
    END IF;
    RETURN number;
END
$$;

-- Inlined by the planner, so conditions on it use the indexes of `document`.
CREATE FUNCTION documents(resource text) RETURNS SETOF document LANGUAGE sql STABLE PARALLEL SAFE AS $$
    SELECT * FROM document WHERE resource_type_id = resource_type_number(resource)
$$;

COMMENT ON TABLE validation_rule IS 'Rules that were ever run, with their metadata; never deleted.';
COMMENT ON COLUMN validation_rule.digest IS 'Of the text of the rule.';
COMMENT ON COLUMN validation_rule.resource IS 'Name of the resource of the offending documents.';
COMMENT ON COLUMN validation_rule.is_active IS 'What the file of the rule says.';
COMMENT ON COLUMN validation_rule.is_switched_off IS 'Set in the admin.';
COMMENT ON COLUMN validation_rule.declared_parameters IS 'Names, types and defaults.';
COMMENT ON COLUMN validation_rule.parameters IS 'Values set in the admin, in place of the defaults.';
COMMENT ON COLUMN validation_rule.document_types IS 'Resource types of all documents that its results name.';
COMMENT ON COLUMN validation_rule.published_version IS 'Change version up to which its results are complete.';
COMMENT ON COLUMN validation_rule.published_basis IS 'Digest of what these results depend on besides the documents.';
COMMENT ON COLUMN validation_rule.published_run IS 'The last run that published results of the rule.';
COMMENT ON COLUMN validation_rule.retired_at IS 'Since when it has no file or is not active.';
COMMENT ON TABLE validation_run IS 'Runs of rules.';
COMMENT ON TABLE validation_run_rule IS 'What a run did with each rule.';
COMMENT ON COLUMN validation_run_rule.reason IS 'Why it was run fully, or why it failed.';
COMMENT ON COLUMN validation_run_rule.unplaced IS 'Violations without organization, which no client sees.';
COMMENT ON TABLE validation_result IS 'Violations of rules, one row for each time that one appeared.';
COMMENT ON COLUMN validation_result.result_key IS 'The same for all episodes of a violation.';
COMMENT ON COLUMN validation_result.digest IS 'Identifies the violation: rule, document or organization, key.';
COMMENT ON COLUMN validation_result.other_documents IS 'Further documents about which the result says something.';
COMMENT ON COLUMN validation_result.resolved_run IS 'The run that found it no more.';
COMMENT ON TABLE staged_violation IS 'Violations found by a run that are not published yet.';
COMMENT ON SEQUENCE validation_version IS 'Versions of results, for clients that follow them.';
COMMENT ON FUNCTION documents IS 'The documents of a resource: documents(''ed-fi/students'').';
COMMENT ON FUNCTION resource_type_number IS 'The number of a resource, which documents have as resource_type_id.';
COMMENT ON INDEX validation_result_open IS 'A violation is open once.';
COMMENT ON INDEX validation_result_open_of_rule IS 'Open results of a rule, to compare with what a run found.';
COMMENT ON INDEX validation_result_organization IS 'Open results of an organization: clients, the admin.';
COMMENT ON INDEX validation_result_document IS 'Results about a document: the admin, the purge.';
COMMENT ON INDEX validation_result_version IS 'Results in the order of their changes: clients that follow them, events.';
COMMENT ON INDEX validation_result_to_purge IS 'Results resolved before a day: the purge.';
