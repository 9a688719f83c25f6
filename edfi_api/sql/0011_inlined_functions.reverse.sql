CREATE OR REPLACE FUNCTION next_change_version() RETURNS bigint LANGUAGE plpgsql AS $$
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

CREATE OR REPLACE FUNCTION scoped_body(resource_type_id smallint, body jsonb) RETURNS jsonb
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
    RETURN jsonb_build_object(resource_type_id, body);
ALTER INDEX document_scoped_body SET (gin_pending_list_limit = 256);
