-- What documents were before. The stored document is its own latest version, so an insert writes nothing here; an update
-- keeps the version that it supersedes, a delete the document as it was. Triggers write them, so that no client of the
-- database can omit it. A version keeps its number. Resource types have no foreign key: they come from rows of
-- `document`, and none is ever removed.
--
-- Of PostgreSQL's processor this takes 15 microseconds for an insert (half of it for the version), 35 for an update and
-- 50 for a delete, where the statements take some hundreds: `python -m tests.benchmarks.tracking`.

-- Where the members of `keyValues` are in the bodies of a resource: {"schoolId": {schoolReference,schoolId}}. Filled
-- after migrate. Descriptor values are compared without regard to case.
CREATE TABLE key_field (
    resource_type_id smallint NOT NULL REFERENCES resource_type (id),
    name text NOT NULL,
    path text[] NOT NULL,
    ignores_case boolean NOT NULL,
    PRIMARY KEY (resource_type_id, name)
);
COMMENT ON TABLE key_field IS 'Where the key values of a resource stand in its bodies.';

-- The key serves the stream of changes, which is read by resource type.
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
COMMENT ON TABLE superseded_document IS 'Versions that an update replaced.';

CREATE INDEX superseded_document_to_purge ON superseded_document USING brin (superseded_at);
COMMENT ON INDEX superseded_document_to_purge IS 'Versions older than a day, for the purge; rows come in this order.';

CREATE INDEX superseded_document_uuid ON superseded_document (document_uuid, change_version);
COMMENT ON INDEX superseded_document_uuid IS 'The former versions of a document: its history.';

-- A changed identity, as clients know it; the columns of authorization are those of the old identity.
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
COMMENT ON TABLE key_change IS 'Old and new key values of documents whose identity changed.';

CREATE INDEX key_change_student ON key_change (student) WHERE opens_pathway;
COMMENT ON INDEX key_change_student IS 'Whether a student ever was in one of these organizations.';

CREATE INDEX key_change_staff ON key_change (staff) WHERE opens_pathway;
COMMENT ON INDEX key_change_staff IS 'Whether staff ever was in one of these organizations.';

CREATE INDEX key_change_contact ON key_change (contact) WHERE opens_pathway;
COMMENT ON INDEX key_change_contact IS 'Whether a contact ever was reached through these students.';

-- `body` is removed when the delete can no longer be undone; the rest stays, or clients that come late would keep the
-- document for ever.
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
    deleted_at timestamptz NOT NULL DEFAULT now(),
    -- A user of the admin has no API client.
    deleted_by_user text
);
COMMENT ON TABLE deleted_document IS 'Documents that were removed; the body as long as they can be restored.';
COMMENT ON COLUMN deleted_document.change_version IS 'The version of the delete.';
COMMENT ON COLUMN deleted_document.last_change_version IS 'The version that the document had.';
COMMENT ON COLUMN deleted_document.aliases IS 'Its identities, to see whether it was created again.';
COMMENT ON COLUMN deleted_document.deleted_by IS 'API client that deleted the document.';
COMMENT ON COLUMN deleted_document.deleted_by_user IS 'User of the admin who deleted the document.';

CREATE INDEX deleted_document_version ON deleted_document (resource_type_id, change_version);
COMMENT ON INDEX deleted_document_version IS 'Deletes of a resource in the order of changes: /deletes, the stream.';

CREATE INDEX deleted_document_last_version ON deleted_document (resource_type_id, last_change_version);
COMMENT ON INDEX deleted_document_last_version IS 'Last versions of deleted documents in the order of changes: the stream.';

-- Whether a person ever was in one of these organizations decides who may read deletes and key changes.
CREATE INDEX deleted_document_student ON deleted_document (student) WHERE opens_pathway;
COMMENT ON INDEX deleted_document_student IS 'Whether a student ever was in one of these organizations.';

CREATE INDEX deleted_document_staff ON deleted_document (staff) WHERE opens_pathway;
COMMENT ON INDEX deleted_document_staff IS 'Whether staff ever was in one of these organizations.';

CREATE INDEX deleted_document_contact ON deleted_document (contact) WHERE opens_pathway;
COMMENT ON INDEX deleted_document_contact IS 'Whether a contact ever was reached through these students.';

CREATE INDEX deleted_document_to_purge ON deleted_document (deleted_at) WHERE body IS NOT NULL;
COMMENT ON INDEX deleted_document_to_purge IS 'Bodies of documents deleted before a day, for the purge.';

CREATE INDEX deleted_document_uuid ON deleted_document (document_uuid);
COMMENT ON INDEX deleted_document_uuid IS 'What became of a document.';

CREATE INDEX deleted_document_client ON deleted_document (deleted_by, change_version);
COMMENT ON INDEX deleted_document_client IS 'What a client deleted, the latest first: the admin.';

CREATE INDEX deleted_document_day ON deleted_document USING brin (deleted_at);
COMMENT ON INDEX deleted_document_day IS 'What was deleted on these days: the admin; rows come in this order.';

-- The values of a natural key as text, without regard to case: {604822,2025-08-20}.
CREATE FUNCTION key_texts(key_values jsonb) RETURNS text[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
RETURN ARRAY(SELECT lower(value) FROM jsonb_each_text(key_values));

-- Each search reads the list of pending entries as a whole, so it is kept short.
CREATE INDEX deleted_document_key ON deleted_document USING gin (key_texts(key_values))
    WITH (gin_pending_list_limit = 256);
COMMENT ON INDEX deleted_document_key IS 'Deleted documents by whole values of their keys: the search of the admin.';

-- What a consumer has not read is not purged.
CREATE TABLE change_consumer (
    name text PRIMARY KEY,
    change_version bigint NOT NULL DEFAULT 0
);
COMMENT ON TABLE change_consumer IS 'Up to which change version each consumer has read the stream of changes.';

-- When purges ran last, for the front page of the admin.
CREATE TABLE purge_run (
    name text PRIMARY KEY,
    finished_at timestamptz NOT NULL
);
COMMENT ON TABLE purge_run IS 'When each kind of purge ran last.';
