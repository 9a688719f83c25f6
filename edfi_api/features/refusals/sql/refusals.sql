-- The ledger of refused writes. All tables are in the control database and have no foreign keys: a writer behind the
-- requests fills them in bulk, and what it records outlives API clients and data stores.

-- One open entry for each client, data store, subject and problem; `count` are its occurrences. `subject` is the
-- referential id of the document as far as the body has it, else the id in the URL, else a digest of what is known.
CREATE TABLE refusal (
    id uuid PRIMARY KEY,
    client bigint NOT NULL,
    data_store bigint NOT NULL,
    resource text NOT NULL,
    subject uuid NOT NULL,
    has_identity boolean NOT NULL,
    natural_key text,
    document_uuid uuid,
    organization bigint,
    operation text NOT NULL,
    is_batch boolean NOT NULL,
    is_summary boolean NOT NULL,
    status smallint NOT NULL,
    problem text NOT NULL,
    title text NOT NULL,
    paths jsonb NOT NULL,
    errors jsonb NOT NULL,
    cause uuid NOT NULL,
    cause_text text NOT NULL,
    awaited_resource text NOT NULL,
    awaited uuid,
    cause_gone boolean NOT NULL DEFAULT false,
    correlation_id text NOT NULL,
    first_at timestamptz NOT NULL,
    last_at timestamptz NOT NULL,
    count bigint NOT NULL,
    resolved_at timestamptz,
    resolution text CHECK (resolution IN ('succeeded', 'deleted', 'aged', 'dismissed')),
    sequence bigint NOT NULL,
    CHECK ((resolved_at IS NULL) = (resolution IS NULL))
);
COMMENT ON TABLE refusal IS 'Refused writes, one row for each client, document and problem, until days after the last occurrence.';
COMMENT ON COLUMN refusal.awaited IS 'The document whose absence is the cause, by its referential id.';
COMMENT ON COLUMN refusal.sequence IS 'Moves with every change of the row.';
COMMENT ON COLUMN refusal.data_store IS '0 for the control database.';

CREATE UNIQUE INDEX refusal_open ON refusal (client, subject, problem, data_store, resource)
    WHERE resolved_at IS NULL;
COMMENT ON INDEX refusal_open IS 'One open entry for each client, subject and problem; which entries a success resolves.';

CREATE INDEX refusal_sequence ON refusal (client, sequence);
COMMENT ON INDEX refusal_sequence IS 'Entries of a client in the order of their changes: /submissions/v1.';

CREATE INDEX refusal_document ON refusal (document_uuid) WHERE resolved_at IS NULL AND document_uuid IS NOT NULL;
COMMENT ON INDEX refusal_document IS 'Open entries that a write or delete by id resolves.';

CREATE INDEX refusal_awaited ON refusal (awaited) WHERE resolved_at IS NULL AND awaited IS NOT NULL AND NOT cause_gone;
COMMENT ON INDEX refusal_awaited IS 'Open entries whose missing target has been written.';

CREATE INDEX refusal_to_purge ON refusal USING brin (last_at);
COMMENT ON INDEX refusal_to_purge IS 'Entries older than a day, for the purge; rows come about in this order.';

CREATE INDEX refusal_resolved ON refusal (client, resolved_at) WHERE resolved_at IS NOT NULL;
COMMENT ON INDEX refusal_resolved IS 'What was resolved lately: the summary of a client.';

CREATE INDEX refusal_open_sequence ON refusal (client, sequence) WHERE resolved_at IS NULL;
COMMENT ON INDEX refusal_open_sequence IS 'Open entries of a client among many resolved ones, and their number: /submissions/v1.';

CREATE INDEX refusal_natural_key ON refusal (client, natural_key) WHERE natural_key IS NOT NULL;
COMMENT ON INDEX refusal_natural_key IS 'Entries of a client about a document: /submissions/v1.';

CREATE INDEX refusal_cause ON refusal (client, cause, sequence);
COMMENT ON INDEX refusal_cause IS 'Entries of a client with one cause: /submissions/v1.';

-- Clients repeat for weeks what they do not repair, so the open entries are the oldest of all.
CREATE INDEX refusal_open_page ON refusal (id) WHERE resolved_at IS NULL;
COMMENT ON INDEX refusal_open_page IS 'Pages of open entries, and their causes: the admin.';

-- Given under an advisory lock that is held to the commit, so that rows become visible in its order.
CREATE SEQUENCE refusal_change AS bigint;

-- Kept by triggers, since counting a million entries would take a second each time.
CREATE TABLE open_refusals (
    client bigint NOT NULL,
    data_store bigint NOT NULL,
    resource text NOT NULL,
    problem text NOT NULL,
    awaited_resource text NOT NULL,
    entries bigint NOT NULL,
    PRIMARY KEY (client, data_store, resource, problem, awaited_resource)
);
COMMENT ON TABLE open_refusals IS 'Numbers of open entries of the ledger of refusals.';

CREATE FUNCTION count_open_refusals() RETURNS trigger LANGUAGE plpgsql AS $$
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

CREATE TRIGGER refusal_is_added AFTER INSERT ON refusal
    REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION count_open_refusals();
COMMENT ON TRIGGER refusal_is_added ON refusal IS 'Counts open entries.';

CREATE TRIGGER refusal_is_changed AFTER UPDATE ON refusal
    REFERENCING OLD TABLE AS removed NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION count_open_refusals();
COMMENT ON TRIGGER refusal_is_changed ON refusal IS 'Counts open entries.';

CREATE TRIGGER refusal_is_removed AFTER DELETE ON refusal
    REFERENCING OLD TABLE AS removed FOR EACH STATEMENT EXECUTE FUNCTION count_open_refusals();
COMMENT ON TRIGGER refusal_is_removed ON refusal IS 'Counts open entries.';

-- Up to which change version of each data store it is known what resolves entries; 0 is the control database.
CREATE TABLE refusal_position (
    data_store bigint PRIMARY KEY,
    change_version bigint NOT NULL
);
COMMENT ON TABLE refusal_position IS 'Up to which change version writes that resolve refusals have been looked for.';

-- Without personal data.
CREATE TABLE submission_hour (
    client bigint NOT NULL,
    data_store bigint NOT NULL,
    resource text NOT NULL,
    hour timestamptz NOT NULL,
    accepted bigint NOT NULL,
    refused bigint NOT NULL,
    last_accepted_at timestamptz,
    last_refused_at timestamptz,
    PRIMARY KEY (hour, client, data_store, resource)
);
COMMENT ON TABLE submission_hour IS 'Accepted and refused writes by client, resource and hour.';

CREATE INDEX submission_hour_client ON submission_hour (client, hour);
COMMENT ON INDEX submission_hour_client IS 'What a client has sent: /submissions/v1, the admin.';

-- Few clients are never refused, but for those PostgreSQL would read every hour to find that out.
CREATE INDEX submission_hour_accepted ON submission_hour (client, hour) WHERE accepted > 0;
COMMENT ON INDEX submission_hour_accepted IS 'When a client was successful last: the admin.';

CREATE INDEX submission_hour_refused ON submission_hour (client, hour) WHERE refused > 0;
COMMENT ON INDEX submission_hour_refused IS 'When a client was refused last: the admin.';
