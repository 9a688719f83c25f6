-- A key changes with an alias of its document. So the values of keys, whose comparison took 14 of PostgreSQL's 182
-- microseconds for a changed document, are compared in transactions that have moved an alias before. The setting ends
-- with the transaction, or with a savepoint that is rolled back.
CREATE FUNCTION identities_move() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM set_config('meadowlark.moves_identities', 'yes', true);
    RETURN NULL;
END
$$;

CREATE TRIGGER alias_moves AFTER UPDATE OF referential_id ON alias
    FOR EACH STATEMENT EXECUTE FUNCTION identities_move();
COMMENT ON TRIGGER alias_moves ON alias IS 'Has document_is_superseded look for changed keys.';

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
