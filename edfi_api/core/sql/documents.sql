-- Documents, and the numbers of their versions.

-- The resources of the served surface; filled after migrate. A number never changes its meaning.
CREATE TABLE resource_type (
    id smallint PRIMARY KEY,
    project text NOT NULL,
    name text NOT NULL,
    endpoint text NOT NULL,
    UNIQUE (project, name)
);

-- One sequence for all documents. It gives even numbers; an insert is stamped with the odd number below. So the newest
-- version is greater than that of the last insert, and equal to that of the last update or delete, as clients of change
-- queries expect, with one number for each change.
CREATE SEQUENCE change_version AS bigint START 2 INCREMENT 2;

-- The upper 16 bits of the keys of these advisory locks, which distinguish them from other locks.
CREATE FUNCTION change_version_lock() RETURNS bigint LANGUAGE sql IMMUTABLE RETURN 17773;

-- Wakes listeners at the commit. Transactions with NOTIFY commit one after the other: 150 writes a second of 16 clients
-- instead of 1,200. So it is used only while there are listeners. They share a lock, which can be taken exclusively only
-- without them. It is tried and released in one expression, which a cancellation cannot interrupt; two transactions that
-- try at the same time take each other for a listener, which is harmless.
CREATE FUNCTION notify_listeners() RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    IF NOT (CASE WHEN pg_try_advisory_lock(change_version_lock()::integer, 0)
                 THEN pg_advisory_unlock(change_version_lock()::integer, 0) ELSE false END) THEN
        NOTIFY document_change;
    END IF;
END
$$;

-- Numbers are given before the commit that makes their rows visible, so the last number given may be higher than one
-- whose row is not visible yet. Therefore a transaction states, before it takes its first number, the last one given so
-- far: as the key of a shared advisory lock, which is never waited for, and which ends after its rows are visible, even
-- at a crash. All numbers that it takes are greater. The setting remembers the lock, and ends with it, at the end of the
-- transaction or of a savepoint that is rolled back.
--
-- Listeners are looked for after the first number is taken: one that comes later finds this number missing, and waits
-- only after it has seen it (`change_stream/listening.py`).
--
-- PL/pgSQL evaluates expressions itself, while each PERFORM starts and ends a query; this function runs for every
-- document that is written.
CREATE FUNCTION next_change_version() RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    version bigint;
    is_done boolean;
BEGIN
    IF coalesce(current_setting('meadowlark.takes_change_versions', true), '') <> '' THEN
        RETURN nextval('change_version');
    END IF;
    is_done := pg_advisory_xact_lock_shared(
        change_version_lock() << 48 | coalesce(pg_sequence_last_value('change_version'), 0)
    ) IS NOT NULL;
    is_done := set_config('meadowlark.takes_change_versions', 'yes', true) IS NOT NULL;
    version := nextval('change_version');
    is_done := notify_listeners() IS NOT NULL;
    RETURN version;
END
$$;

-- The highest version that no other running transaction can still undercut: what a snapshot taken after the return of
-- this function does not have, will never exist. So it is called in a statement of its own, before the rows are read.
-- Without running writers it is the last number given. The order matters: a transaction that took a number up to `last`
-- did so before `last` was read, so its lock exists when the locks are read, or its rows are visible.
--
-- Rows may be visible that are not on disk yet, since bulk loads do not wait for that. If a crash lost them, their
-- versions would be given to other rows, which readers that have read up to them would miss. So the commit of the
-- transaction that calls this function flushes the log, which a transactional message makes it do.
CREATE FUNCTION newest_change_version() RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    last bigint := coalesce(pg_sequence_last_value('change_version'), 0);
    newest bigint;
BEGIN
    newest := least(last, (
        SELECT min((classid::bigint & x'FFFF'::bigint) << 32 | objid::bigint) FROM pg_locks
         WHERE locktype = 'advisory' AND objsubid = 1 AND pid IS DISTINCT FROM pg_backend_pid()
           AND classid::bigint >> 16 = change_version_lock()
           AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
    ));
    IF pg_current_wal_flush_lsn() < pg_current_wal_insert_lsn() THEN
        PERFORM pg_logical_emit_message(true, 'newest_change_version', '');
    END IF;
    RETURN newest;
END
$$;

-- The envelope in columns, the Ed-Fi body unchanged. What reference objects refer to is stored with the body: looking it
-- up in `reference` and `alias` at each read took two thirds of the time that the database needs for a document. It
-- stays true as long as the reference exists, since the foreign key keeps the target from being deleted, and an id never
-- changes.
CREATE TABLE document (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    document_uuid uuid NOT NULL CONSTRAINT document_uuid_unique UNIQUE,
    resource_type_id smallint NOT NULL CONSTRAINT document_resource_type_fk REFERENCES resource_type (id),
    natural_key text NOT NULL,
    body jsonb NOT NULL,
    linked_types smallint[],
    linked_ids uuid[],
    created_by bigint,
    created_at timestamptz NOT NULL DEFAULT now(),
    last_modified_at timestamptz NOT NULL DEFAULT now(),
    last_modified_by bigint,
    change_version bigint NOT NULL DEFAULT next_change_version() - 1,
    operation text NOT NULL DEFAULT 'insert',
    -- What authorization decides by: facts of the body, written with it. NULL where the resource has none.
    organization bigint,
    student text,
    contact text,
    staff text,
    namespace text,
    hierarchy bigint[],
    opens_pathway boolean,
    is_person boolean
);
COMMENT ON TABLE document IS 'All Ed-Fi documents, descriptors included.';
COMMENT ON COLUMN document.document_uuid IS 'The id that clients see (UUID version 7).';
COMMENT ON COLUMN document.natural_key IS 'Identity as text, for people; uniqueness is the alias table''s.';
COMMENT ON COLUMN document.linked_types IS 'Types of the documents that the reference objects of the body mean.';
COMMENT ON COLUMN document.linked_ids IS 'Their ids, in the order of the reference objects; NULL if there are none.';
COMMENT ON COLUMN document.created_by IS 'API client that created the document.';
COMMENT ON COLUMN document.last_modified_by IS 'API client that wrote the present version.';
COMMENT ON COLUMN document.change_version IS 'Taken anew at every write that changes the body; also the ETag.';
COMMENT ON COLUMN document.operation IS 'What made the present version: insert, update or key_change.';
COMMENT ON COLUMN document.organization IS 'Education organization that the document belongs to.';
COMMENT ON COLUMN document.student IS 'studentUniqueId of the student whom the document is about.';
COMMENT ON COLUMN document.contact IS 'contactUniqueId or parentUniqueId of the contact whom the document is about.';
COMMENT ON COLUMN document.staff IS 'staffUniqueId of the staff member whom the document is about.';
COMMENT ON COLUMN document.namespace IS 'Namespace that the document belongs to.';
COMMENT ON COLUMN document.hierarchy IS 'Of an education organization: its id, then those of the ones directly above.';
COMMENT ON COLUMN document.opens_pathway IS 'True for associations that bring people under organizations.';
COMMENT ON COLUMN document.is_person IS 'True for the document of a student, contact or staff member.';

-- `{"266": {...}}`: a body below the number of its resource. Made of immutable functions and without STRICT, so that
-- PostgreSQL can inline it in the index and in conditions, instead of running a query for each document that is written
-- and each row that is rechecked.
CREATE FUNCTION scoped_body(resource_type_id smallint, body jsonb) RETURNS jsonb
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN jsonb_set('{}', ARRAY[resource_type_id::text], body);

-- With the resource in the keys, an entry leads to rows of that resource alone, and statistics say how often it has the
-- value. Alternatives, measured by `python -m tests.benchmarks.indexes --size 200000` on a quiet machine: size, writes
-- of the bare statement, bytes of log for each, and milliseconds for what matches in one school, for what one in 300
-- has, and for a value that other resources have too:
--
--                            MB  writes/s    log  school  1 in 300  shared
--   none                    0.0     4,093  2,901    49.8      41.5    25.5
--   body                    9.1     3,687  3,110     1.3       0.4     1.1
--   scoped body            11.5     3,518  3,154     5.1       1.1     0.5
--   scoped, no fastupdate  12.2     3,482  3,285     5.2       1.1     0.5
--   queryable members      12.6     3,451  3,119    23.6       4.1     1.8
--   an index a resource    18.7     1,789  3,104     1.9       1.2     0.8
--
-- The body alone is smaller and faster where many rows match, but returns what all other resources have in common with
-- the resource in question, which may be most of the table, and a prepared statement cannot foresee it: the slowest page
-- counts. New entries go to a pending list first, which each query reads as a whole; with the default of 4 MB that took
-- as long as ten queries, after 10,000 writes. With 256 kB a query reads 11 to 21 blocks, and a write logs no more.
CREATE INDEX document_scoped_body ON document USING gin (scoped_body(resource_type_id, body) jsonb_path_ops)
    WITH (gin_pending_list_limit = 256);
COMMENT ON INDEX document_scoped_body IS 'Query by example: values in the bodies of one resource.';

-- With the people in it, totals of what organizations and people decide need not read the documents: 0.3 instead of 1.6
-- seconds for half a million.
CREATE INDEX document_organization ON document (resource_type_id, organization, id) INCLUDE (student, contact, staff)
    WHERE organization IS NOT NULL;
COMMENT ON INDEX document_organization IS 'Pages and totals of a collection filtered by its organization, such as schoolId; pages of clients authorized by organizations; each organization''s documents are in the order of creation.';

-- Most documents about a person belong to an organization, are found by that, and cost no entry here.
CREATE INDEX document_staff ON document (staff, resource_type_id, organization, id)
    WHERE staff IS NOT NULL AND (organization IS NULL OR opens_pathway);
COMMENT ON INDEX document_staff IS 'Whether staff is in one of these organizations; documents about staff that have no organization, such as staffs filtered by staffUniqueId.';

-- Contacts are reached through students, never through an organization of their own.
CREATE INDEX document_contact ON document (contact, resource_type_id, student, id) WHERE contact IS NOT NULL;
COMMENT ON INDEX document_contact IS 'Whether a contact is reached through these students; documents about a contact, also filtered by contactUniqueId.';

CREATE INDEX document_namespace ON document (resource_type_id, namespace, id) WHERE namespace IS NOT NULL;
COMMENT ON INDEX document_namespace IS 'Pages and totals of a collection filtered by its namespace; pages of clients authorized by namespace prefixes; each namespace''s documents are in the order of creation.';

CREATE INDEX document_change_version ON document (resource_type_id, change_version);
COMMENT ON INDEX document_change_version IS 'minChangeVersion and maxChangeVersion; the stream of changes.';

CREATE INDEX document_of_organization ON document ((hierarchy[1])) WHERE hierarchy IS NOT NULL;
COMMENT ON INDEX document_of_organization IS 'The document of an education organization by its id, to keep organization_closure.';

CREATE INDEX document_owner ON document (created_by, resource_type_id, id) WHERE created_by IS NOT NULL;
COMMENT ON INDEX document_owner IS 'Documents of the client that created them, in the order of creation.';

CREATE INDEX document_person ON document (student, contact, staff) WHERE is_person;
COMMENT ON INDEX document_person IS 'The document of a person, to lock it while paths to the person change.';

-- Of two indexes with the same cost PostgreSQL takes the newer one. In a database that was analyzed while it had few
-- documents, the check of `reference_document_fk` costs the same by `document_change_version`, which would read all
-- documents of the resource for each reference. So this index is created after that one.
CREATE UNIQUE INDEX document_page ON document (resource_type_id, id);
COMMENT ON INDEX document_page IS 'Pages of a collection in the order of creation, by offset or token; scans of the nearest rows for filters; the foreign key of reference.';

CREATE INDEX document_student ON document (student, resource_type_id, organization, id) INCLUDE (opens_pathway)
    WHERE student IS NOT NULL AND (organization IS NULL OR opens_pathway);
COMMENT ON INDEX document_student IS 'Whether a student is in one of these organizations; documents about a student that have no organization, such as students filtered by studentUniqueId. With opens_pathway, SQL views count enrollments in it.';
