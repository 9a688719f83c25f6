-- Rules over stored documents, their runs, and what clients request of them.

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
    is_switched_on boolean NOT NULL DEFAULT false,
    is_on boolean NOT NULL GENERATED ALWAYS AS (NOT is_switched_off AND (is_active OR is_switched_on)) STORED,
    UNIQUE (source, identifier),
    CONSTRAINT validation_rule_has_one_switch CHECK (NOT (is_switched_on AND is_switched_off))
);
COMMENT ON TABLE validation_rule IS 'Rules that were ever run, with their metadata; never deleted.';
COMMENT ON COLUMN validation_rule.digest IS 'Of the text of the rule.';
COMMENT ON COLUMN validation_rule.resource IS 'Name of the resource of the offending documents.';
COMMENT ON COLUMN validation_rule.is_active IS 'What the file of the rule says.';
COMMENT ON COLUMN validation_rule.declared_parameters IS 'Names, types and defaults.';
COMMENT ON COLUMN validation_rule.parameters IS 'Values set in the admin, in place of the defaults.';
COMMENT ON COLUMN validation_rule.document_types IS 'Resource types of all documents that its results name.';
COMMENT ON COLUMN validation_rule.published_version IS 'Change version up to which its results are complete.';
COMMENT ON COLUMN validation_rule.published_basis IS 'Digest of what these results depend on besides the documents.';
COMMENT ON COLUMN validation_rule.published_run IS 'The last run that published results of the rule.';
COMMENT ON COLUMN validation_rule.retired_at IS 'Since when it has no file or is not active.';
COMMENT ON COLUMN validation_rule.is_switched_off IS 'Set in the admin: the rule is left out.';
COMMENT ON COLUMN validation_rule.is_switched_on IS 'Set in the admin: it is run although its file says that it is not active.';
COMMENT ON COLUMN validation_rule.is_on IS 'Whether the rule is run, as long as it has a file.';
COMMENT ON CONSTRAINT validation_rule_has_one_switch ON validation_rule IS 'It is switched off, or on, or neither.';

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
COMMENT ON TABLE validation_run IS 'Runs of rules.';

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
COMMENT ON TABLE validation_run_rule IS 'What a run did with each rule.';
COMMENT ON COLUMN validation_run_rule.reason IS 'Why it was run fully, or why it failed.';
COMMENT ON COLUMN validation_run_rule.unplaced IS 'Violations without organization, which no client sees.';

-- How far consumers have received the events of results, in versions of results.
CREATE TABLE validation_consumer (
    name text PRIMARY KEY,
    validation_version bigint NOT NULL DEFAULT 0
);
COMMENT ON TABLE validation_consumer IS 'Up to which version each consumer has received the events of results.';

-- `ended_at` is NULL until a requested run has been run, or cannot be run any more.
CREATE TABLE validation_request (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    run_uuid uuid NOT NULL DEFAULT gen_random_uuid() UNIQUE,
    client bigint NOT NULL,
    requested_by text NOT NULL,
    rules text[] NOT NULL,
    categories text[] NOT NULL,
    organizations bigint[] NOT NULL CHECK (organizations <> '{}'),
    requested_at timestamptz NOT NULL DEFAULT now(),
    ended_at timestamptz
);
COMMENT ON TABLE validation_request IS 'Runs of rules that API clients requested.';
COMMENT ON COLUMN validation_request.run_uuid IS 'The id that the run will have.';
COMMENT ON COLUMN validation_request.client IS 'Id of the API client, in the control database.';
COMMENT ON COLUMN validation_request.organizations IS 'Only violations in these organizations and below are compared.';

CREATE UNIQUE INDEX validation_request_open ON validation_request (client) WHERE ended_at IS NULL;
COMMENT ON INDEX validation_request_open IS 'A client has one open request; requests in the order of their ids.';

CREATE INDEX validation_request_client ON validation_request (client, requested_at);
COMMENT ON INDEX validation_request_client IS 'The last request of a client.';

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
COMMENT ON FUNCTION resource_type_number IS 'The number of a resource, which documents have as resource_type_id.';

-- Inlined by the planner, so conditions on it use the indexes of `document`.
CREATE FUNCTION documents(resource text) RETURNS SETOF document LANGUAGE sql STABLE PARALLEL SAFE AS $$
    SELECT * FROM document WHERE resource_type_id = resource_type_number(resource)
$$;
COMMENT ON FUNCTION documents IS 'The documents of a resource: documents(''ed-fi/students'').';
