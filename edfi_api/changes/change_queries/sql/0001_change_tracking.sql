-- What documents were before. The live document is its own latest version, so an insert writes nothing here; an update
-- keeps the version it supersedes, a delete the document as it was. Triggers write, so no client of the database can
-- forget to. A version keeps its number through all of this. Resource types are not checked again: they come from rows
-- of `document`, and none ever goes.
-- Of PostgreSQL's processor this took 15 microseconds for an insert (half of it for the version), 35 for an update and 50
-- for a delete, where the write statements take some hundreds: `python -m tests.benchmarks.tracking`.

-- Where the members of `keyValues` stand in the bodies of a resource: {"schoolId": {schoolReference,schoolId}}.
-- Filled after migrate. Descriptor values are compared without regard to case.
CREATE TABLE key_field (
    resource_type_id smallint NOT NULL REFERENCES resource_type (id),
    name text NOT NULL,
    path text[] NOT NULL,
    ignores_case boolean NOT NULL,
    PRIMARY KEY (resource_type_id, name)
);

-- A version that an update replaced. The key serves the stream of changes, which is read by resource type.
CREATE TABLE superseded_document (
    change_version bigint NOT NULL,
    operation text NOT NULL,
    document_uuid uuid NOT NULL,
    resource_type_id smallint NOT NULL,
    natural_key text NOT NULL,
    body jsonb NOT NULL,
    last_modified_by bigint,
    last_modified_at timestamptz NOT NULL,
    superseded_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (resource_type_id, change_version)
);

-- Serves the purge; rows come in the order of this column, so a summary of each part of the table is enough.
CREATE INDEX superseded_document_to_purge ON superseded_document USING brin (superseded_at);

-- An identity that changed, in the terms of clients; what decides who may see it is what the old identity said.
CREATE TABLE key_change (
    change_version bigint NOT NULL,
    document_uuid uuid NOT NULL,
    resource_type_id smallint NOT NULL,
    old_key_values jsonb NOT NULL,
    new_key_values jsonb NOT NULL,
    organization bigint,
    student text,
    contact text,
    staff text,
    namespace text,
    opens_pathway boolean,
    PRIMARY KEY (resource_type_id, change_version)
);

-- A document that was removed, and its last version. `body` goes when the time is over in which the delete can be
-- undone; the rest stays, or clients that come late would keep the document for ever.
CREATE TABLE deleted_document (
    change_version bigint PRIMARY KEY,
    document_uuid uuid NOT NULL,
    resource_type_id smallint NOT NULL,
    natural_key text NOT NULL,
    key_values jsonb NOT NULL,
    aliases uuid[] NOT NULL,
    body jsonb,
    organization bigint,
    student text,
    contact text,
    staff text,
    namespace text,
    opens_pathway boolean,
    created_by bigint,
    created_at timestamptz NOT NULL,
    last_change_version bigint NOT NULL,
    last_operation text NOT NULL,
    last_modified_by bigint,
    last_modified_at timestamptz NOT NULL,
    deleted_by bigint,
    deleted_at timestamptz NOT NULL DEFAULT now()
);
-- Serves /deletes, and the stream's events of deletes.
CREATE INDEX deleted_document_version ON deleted_document (resource_type_id, change_version);
-- Serves the stream's events of the last versions before a delete.
CREATE INDEX deleted_document_last_version ON deleted_document (resource_type_id, last_change_version);
-- Serve "was this person ever in one of these organizations", which decides who may read of deletes and key changes.
CREATE INDEX deleted_document_student ON deleted_document (student) WHERE opens_pathway;
CREATE INDEX deleted_document_staff ON deleted_document (staff) WHERE opens_pathway;
CREATE INDEX deleted_document_contact ON deleted_document (contact) WHERE opens_pathway;
CREATE INDEX key_change_student ON key_change (student) WHERE opens_pathway;
CREATE INDEX key_change_staff ON key_change (staff) WHERE opens_pathway;
CREATE INDEX key_change_contact ON key_change (contact) WHERE opens_pathway;
-- Serves the purge.
CREATE INDEX deleted_document_to_purge ON deleted_document (deleted_at) WHERE body IS NOT NULL;
-- Serves "what became of this document".
CREATE INDEX deleted_document_uuid ON deleted_document (document_uuid);

-- Serves minChangeVersion and maxChangeVersion, and the stream of changes.
CREATE INDEX document_change_version ON document (resource_type_id, change_version);

-- How far those have come who read the stream of changes; what they have not seen is not purged.
CREATE TABLE change_consumer (
    name text PRIMARY KEY,
    change_version bigint NOT NULL DEFAULT 0
);

CREATE FUNCTION key_values(resource_type_id smallint, body jsonb) RETURNS jsonb LANGUAGE sql STABLE
RETURN (
    SELECT coalesce(jsonb_object_agg(f.name, key_values.body #> f.path), '{}') FROM key_field f
     WHERE f.resource_type_id = key_values.resource_type_id
);

CREATE FUNCTION is_same_key(resource_type_id smallint, old_body jsonb, new_body jsonb) RETURNS boolean
LANGUAGE sql STABLE
RETURN (
    SELECT coalesce(bool_and(
        CASE WHEN f.ignores_case THEN lower(old_body #>> f.path) = lower(new_body #>> f.path)
             ELSE old_body #> f.path = new_body #> f.path END
    ), true) FROM key_field f
     WHERE f.resource_type_id = is_same_key.resource_type_id
);

-- The row is locked when this runs, so OLD is what the update replaces, whatever concurrent transactions did.
CREATE FUNCTION supersede_document() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    NEW.change_version := next_change_version();
    NEW.operation := 'update';
    IF NEW.natural_key <> OLD.natural_key AND NOT is_same_key(OLD.resource_type_id, OLD.body, NEW.body) THEN
        NEW.operation := 'key_change';
        INSERT INTO key_change (
            change_version, document_uuid, resource_type_id, old_key_values, new_key_values,
            organization, student, contact, staff, namespace, opens_pathway
        ) VALUES (
            NEW.change_version, OLD.document_uuid, OLD.resource_type_id,
            key_values(OLD.resource_type_id, OLD.body), key_values(OLD.resource_type_id, NEW.body),
            OLD.organization, OLD.student, OLD.contact, OLD.staff, OLD.namespace, OLD.opens_pathway
        );
    END IF;
    INSERT INTO superseded_document (
        change_version, operation, document_uuid, resource_type_id, natural_key, body,
        last_modified_by, last_modified_at
    ) VALUES (
        OLD.change_version, OLD.operation, OLD.document_uuid, OLD.resource_type_id, OLD.natural_key, OLD.body,
        OLD.last_modified_by, OLD.last_modified_at
    );
    RETURN NEW;
END
$$;

-- Whatever else becomes columns of a document is no part of its versions.
CREATE TRIGGER document_is_superseded BEFORE UPDATE OF body ON document
    FOR EACH ROW EXECUTE FUNCTION supersede_document();

-- Before the delete, because the aliases go with the document.
CREATE FUNCTION keep_deleted_document() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO deleted_document (
        change_version, document_uuid, resource_type_id, natural_key, key_values, aliases, body,
        organization, student, contact, staff, namespace, opens_pathway,
        created_by, created_at, last_change_version, last_operation, last_modified_by, last_modified_at, deleted_by
    ) VALUES (
        next_change_version(), OLD.document_uuid, OLD.resource_type_id, OLD.natural_key,
        key_values(OLD.resource_type_id, OLD.body),
        ARRAY(SELECT referential_id FROM alias WHERE document_id = OLD.id), OLD.body,
        OLD.organization, OLD.student, OLD.contact, OLD.staff, OLD.namespace, OLD.opens_pathway,
        OLD.created_by, OLD.created_at, OLD.change_version, OLD.operation, OLD.last_modified_by, OLD.last_modified_at,
        nullif(current_setting('meadowlark.client', true), '')::bigint
    );
    RETURN OLD;
END
$$;

CREATE TRIGGER document_is_deleted BEFORE DELETE ON document
    FOR EACH ROW EXECUTE FUNCTION keep_deleted_document();

-- Every change that is still known with its body, one row for each version: what a stream of changes tells. Read in
-- windows of versions that end at `newest_change_version()`, and by resource type, each branch is one index scan.
CREATE VIEW document_change AS
SELECT change_version, operation, resource_type_id, document_uuid, natural_key, body,
       last_modified_by AS client, last_modified_at AS changed_at
  FROM document
UNION ALL
SELECT change_version, operation, resource_type_id, document_uuid, natural_key, body,
       last_modified_by, last_modified_at
  FROM superseded_document
UNION ALL
SELECT last_change_version, last_operation, resource_type_id, document_uuid, natural_key, body,
       last_modified_by, last_modified_at
  FROM deleted_document WHERE body IS NOT NULL
UNION ALL
SELECT change_version, 'delete', resource_type_id, document_uuid, natural_key, body, deleted_by, deleted_at
  FROM deleted_document;

COMMENT ON TABLE key_field IS 'Where the key values of a resource stand in its bodies.';
COMMENT ON TABLE superseded_document IS 'Versions that an update replaced.';
COMMENT ON TABLE key_change IS 'Old and new key values of documents whose identity changed.';
COMMENT ON TABLE deleted_document IS 'Documents that were removed; the body as long as they can be restored.';
COMMENT ON COLUMN deleted_document.change_version IS 'The version of the delete.';
COMMENT ON COLUMN deleted_document.last_change_version IS 'The version that the document had.';
COMMENT ON COLUMN deleted_document.aliases IS 'Its identities, to see whether it was created again.';
COMMENT ON TABLE change_consumer IS 'Up to which change version each consumer has read the stream of changes.';
COMMENT ON VIEW document_change IS 'Every known change: insert, update, key_change and delete.';
