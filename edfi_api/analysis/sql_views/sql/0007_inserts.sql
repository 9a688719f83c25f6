-- For scripts that insert descriptors and their mappings into an ODS where they are not there yet: through a view, a row
-- that is there is skipped, any other refused. The arguments of the trigger are the columns that identify a row.
CREATE FUNCTION skip_row_that_is_there() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    is_there boolean;
BEGIN
    EXECUTE format(
        'SELECT EXISTS (SELECT FROM %I.%I v WHERE %s)', TG_TABLE_SCHEMA, TG_TABLE_NAME,
        (SELECT string_agg(format('v.%1$I = $1.%1$I', name), ' AND ') FROM unnest(TG_ARGV) AS a (name))
    ) INTO is_there USING NEW;
    IF is_there THEN
        RETURN NULL;
    END IF;
    RAISE EXCEPTION 'cannot insert into view "%"', TG_TABLE_NAME USING
        ERRCODE = 'object_not_in_prerequisite_state',
        DETAIL = format('There is no row %s.', jsonb_strip_nulls(to_jsonb(NEW))),
        HINT = 'Write the document through the API or with manage.py load_documents; afterwards this statement succeeds.';
END
$$;
COMMENT ON FUNCTION skip_row_that_is_there() IS 'INSTEAD OF INSERT on SQL views of descriptors and descriptor mappings.';
