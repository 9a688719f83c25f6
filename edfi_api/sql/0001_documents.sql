-- The resources of the served surface; filled after migrate. A number never changes its meaning.
CREATE TABLE resource_type (
    id smallint PRIMARY KEY,
    project text NOT NULL,
    name text NOT NULL,
    endpoint text NOT NULL,
    UNIQUE (project, name)
);

-- One sequence for all documents: what changed since is a matter of one number. It gives even numbers, an insert is
-- stamped with the odd one below its number: so the newest version is greater than that of the last insert, and equal
-- to that of the last update or delete, as clients of change queries expect, with one number for each change.
CREATE SEQUENCE change_version AS bigint START 2 INCREMENT 2;

-- The upper 16 bits of the keys of our locks, to tell them from those of others.
CREATE FUNCTION change_version_lock() RETURNS bigint LANGUAGE sql IMMUTABLE RETURN 17773;

-- Wakes at the commit who waits for changes. NOTIFY lets transactions commit only one after the other, which made 150
-- writes a second out of 1,200 of 16 clients; so it is used only while somebody does wait. Who waits holds this lock
-- together with others who wait, and then nobody can have it alone. It is only tried, and given back in the same
-- expression, which no cancellation can divide; that two who try at the same time take each other for a listener does no
-- harm.
CREATE FUNCTION notify_listeners() RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    IF NOT (CASE WHEN pg_try_advisory_lock(change_version_lock()::integer, 0)
                 THEN pg_advisory_unlock(change_version_lock()::integer, 0) ELSE false END) THEN
        NOTIFY document_change;
    END IF;
END
$$;

-- Numbers are handed out before the commit that shows their rows, so the last number given may be higher than one
-- whose row nobody sees yet. Therefore a transaction tells, before it takes its first number, the last one given so
-- far: in the key of a shared advisory lock, which nobody ever waits for and which goes, even at a crash, after its
-- rows are to be seen. All numbers it will take are greater. The setting remembers that it has told; as the lock,
-- it goes with the transaction, or with the savepoint that is rolled back.
-- The listeners are looked for once the first number is taken: one who comes later finds that it is missing still, and
-- does not sleep before it has seen it (`change_stream/waking.py`).
CREATE FUNCTION next_change_version() RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    version bigint;
BEGIN
    IF coalesce(current_setting('meadowlark.takes_change_versions', true), '') <> '' THEN
        RETURN nextval('change_version');
    END IF;
    PERFORM pg_advisory_xact_lock_shared(
        change_version_lock() << 48 | coalesce(pg_sequence_last_value('change_version'), 0)
    );
    PERFORM set_config('meadowlark.takes_change_versions', 'yes', true);
    version := nextval('change_version');
    PERFORM notify_listeners();
    RETURN version;
END
$$;

-- The highest version that no other running transaction can undercut any more: what is not there in a snapshot taken
-- after this has returned will never be there. So it is called in a statement of its own, before the rows are read.
-- Without running writers it is the last number given. The order matters: whoever took a number up to `last` did so
-- before it was read, so its lock is there when the locks are looked at, or its rows are to be seen already.
-- Rows can be seen that are not on disk yet: bulk loads do not wait for it. Were they lost in a crash, their versions
-- would be given again, to other rows, and who has read up to them would miss those. So the commit of the transaction
-- in which this is called brings all that to disk first, by a message, which is what commits do so for.
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

-- The envelope outside, the Ed-Fi body untouched inside.
-- What reference objects mean is written down with the body: to look it up at each reading, by way of `reference` and
-- `alias`, took two thirds of the time that the database needs for a document. It stays true as long as the reference
-- stands, since the foreign key keeps the target from being deleted, and an id never changes.
CREATE TABLE document (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    document_uuid uuid NOT NULL CONSTRAINT document_uuid_unique UNIQUE,
    resource_type_id smallint NOT NULL,
    natural_key text NOT NULL,
    body jsonb NOT NULL,
    linked_types smallint[],
    linked_ids uuid[],
    created_by bigint,
    created_at timestamptz NOT NULL DEFAULT now(),
    last_modified_at timestamptz NOT NULL DEFAULT now(),
    last_modified_by bigint,
    change_version bigint NOT NULL DEFAULT next_change_version() - 1,
    operation text NOT NULL DEFAULT 'insert'
);

-- Serves a page of a collection in insertion order.
CREATE INDEX document_page ON document (resource_type_id, id);

-- `{"266": {...}}`: a body below the number of its resource.
CREATE FUNCTION scoped_body(resource_type_id smallint, body jsonb) RETURNS jsonb
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
    RETURN jsonb_build_object(resource_type_id, body);

-- Serves query by example: containment (@>) of the asked values in the bodies of one resource. With the resource in
-- the keys, an entry leads to rows of that resource alone, and the statistics tell how often it has the value.
-- Others were measured beside it, `python -m tests.benchmarks.indexes --size 200000` on a quiet machine: writes of the
-- bare statement, bytes of log for each, milliseconds for what matches in one school, for what one in 300 has, and for
-- a value that other resources have too:
--                            MB  writes/s    log  school  1 in 300  shared
--   none                    0.0     4,093  2,901    49.8      41.5    25.5
--   body                    9.1     3,687  3,110     1.3       0.4     1.1
--   scoped body            11.5     3,518  3,154     5.1       1.1     0.5
--   scoped, no fastupdate  12.2     3,482  3,285     5.2       1.1     0.5
--   queryable members      12.6     3,451  3,119    23.6       4.1     1.8
--   an index a resource    18.7     1,789  3,104     1.9       1.2     0.8
-- The body alone is smaller, costs 5 % less of the writes, and is quicker where many rows match, since each match is
-- checked again and its scoped body made for that. But it brings what all other resources have in common with the one
-- asked for, which may be most of the table, and a prepared statement cannot foresee it: here the slowest page counts.
-- Leaving out what cannot be asked for takes longer than indexing it, and again at every match. An index for each
-- resource takes more room and makes every write look at hundreds of them. Without fastupdate a write logs more, and
-- pages gain nothing that can be seen.
CREATE INDEX document_scoped_body ON document USING gin (scoped_body(resource_type_id, body) jsonb_path_ops);

ALTER TABLE document
    ADD CONSTRAINT document_resource_type_fk FOREIGN KEY (resource_type_id) REFERENCES resource_type (id);

COMMENT ON TABLE document IS 'All Ed-Fi documents, descriptors included.';
COMMENT ON COLUMN document.document_uuid IS 'The id that clients see (UUID version 7).';
COMMENT ON COLUMN document.natural_key IS 'Identity as text, for people; uniqueness is the alias table''s.';
COMMENT ON COLUMN document.linked_types IS 'Types of the documents that the reference objects of the body mean.';
COMMENT ON COLUMN document.linked_ids IS 'Their ids, in the order of the reference objects; NULL if there are none.';
COMMENT ON COLUMN document.created_by IS 'API client that created the document.';
COMMENT ON COLUMN document.last_modified_by IS 'API client that wrote the present version.';
COMMENT ON COLUMN document.change_version IS 'Taken anew at every write that changes the body; also the ETag.';
COMMENT ON COLUMN document.operation IS 'What made the present version: insert, update or key_change.';
