-- PL/pgSQL evaluates simple expressions itself, while each PERFORM starts and ends a query. This function runs for every
-- document that is written; what it does is as in 0001.
CREATE OR REPLACE FUNCTION next_change_version() RETURNS bigint LANGUAGE plpgsql AS $$
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

-- As in 0001, but of functions that are immutable and without STRICT, so that PostgreSQL can inline it in the index and
-- in conditions, instead of running a query for each document that is written and each row that is checked again. The
-- results are the same: {"266": {...}}.
CREATE OR REPLACE FUNCTION scoped_body(resource_type_id smallint, body jsonb) RETURNS jsonb
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN jsonb_set('{}', ARRAY[resource_type_id::text], body);
-- Sessions that have the index open read its expression again.
ALTER INDEX document_scoped_body SET (gin_pending_list_limit = 256);
