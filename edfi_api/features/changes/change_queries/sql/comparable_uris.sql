-- `lower` depends on the locale of the database, and differs from Python's, from which the ids of descriptors follow: İ
-- has two characters in lower case, and a Σ at the end of a word is ς. A letter is at the end of a word if a letter comes
-- before it and none after it, apart from characters that the rule ignores. From PostgreSQL 17 on there is a collation
-- that is the same everywhere.
DO $do$
BEGIN
    EXECUTE format(
        $function$
        CREATE FUNCTION comparable_uri(uri text) RETURNS text LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
        RETURN lower(
            regexp_replace(
                replace(uri, U&'\0130', U&'i\0307'),
                U&'(?<=[[:alpha:]][''.:\00B7\2019\0300-\036F]*)\03A3(?![''.:\00B7\2019\0300-\036F]*[[:alpha:]])',
                U&'\03C2',
                'g'
            ) %s
        )
        $function$,
        (SELECT 'COLLATE pg_c_utf8' FROM pg_collation WHERE collname = 'pg_c_utf8' LIMIT 1)
    );
END
$do$;
COMMENT ON FUNCTION comparable_uri(text) IS 'The form in which URIs of the same descriptor are equal.';

-- As in moved_identities.sql.
CREATE OR REPLACE FUNCTION is_same_key(resource_type_id smallint, old_body jsonb, new_body jsonb) RETURNS boolean
LANGUAGE plpgsql STABLE AS $$
BEGIN
    IF coalesce(current_setting('meadowlark.moves_identities', true), '') = '' THEN
        RETURN true;
    END IF;
    RETURN (
        SELECT coalesce(bool_and(
            CASE WHEN f.ignores_case THEN comparable_uri(old_body #>> f.path) = comparable_uri(new_body #>> f.path)
                 ELSE old_body #> f.path = new_body #> f.path END
        ), true) FROM key_field f
         WHERE f.resource_type_id = is_same_key.resource_type_id
    );
END
$$;
