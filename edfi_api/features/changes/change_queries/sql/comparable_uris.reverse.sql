CREATE OR REPLACE FUNCTION is_same_key(resource_type_id smallint, old_body jsonb, new_body jsonb) RETURNS boolean
LANGUAGE plpgsql STABLE AS $$
BEGIN
    IF coalesce(current_setting('meadowlark.moves_identities', true), '') = '' THEN
        RETURN true;
    END IF;
    RETURN (
        SELECT coalesce(bool_and(
            CASE WHEN f.ignores_case THEN lower(old_body #>> f.path) = lower(new_body #>> f.path)
                 ELSE old_body #> f.path = new_body #> f.path END
        ), true) FROM key_field f
         WHERE f.resource_type_id = is_same_key.resource_type_id
    );
END
$$;

DROP FUNCTION comparable_uri(text);
