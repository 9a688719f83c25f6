-- Whether claims have changed since a process read them is one number. A change waits for the row of another change
-- that has not ended yet, so the changes of the tree come one after the other and the check for circles sees them all.
CREATE TABLE claims_version (
    id      smallint PRIMARY KEY DEFAULT 1 CHECK (id = 1),
    version bigint NOT NULL
);
INSERT INTO claims_version (version) VALUES (1);

CREATE FUNCTION count_up_claims_version() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO claims_version AS present (version) VALUES (1)
    ON CONFLICT (id) DO UPDATE SET version = present.version + 1;
    RETURN NULL;
END $$;

CREATE TRIGGER claims_version BEFORE INSERT OR UPDATE OR DELETE OR TRUNCATE ON security_resourceclaim
    FOR EACH STATEMENT EXECUTE FUNCTION count_up_claims_version();
CREATE TRIGGER claims_version BEFORE INSERT OR UPDATE OR DELETE OR TRUNCATE ON security_defaultstrategies
    FOR EACH STATEMENT EXECUTE FUNCTION count_up_claims_version();
CREATE TRIGGER claims_version BEFORE INSERT OR UPDATE OR DELETE OR TRUNCATE ON security_claimset
    FOR EACH STATEMENT EXECUTE FUNCTION count_up_claims_version();
CREATE TRIGGER claims_version BEFORE INSERT OR UPDATE OR DELETE OR TRUNCATE ON security_grant
    FOR EACH STATEMENT EXECUTE FUNCTION count_up_claims_version();
CREATE TRIGGER claims_version BEFORE INSERT OR UPDATE OR DELETE OR TRUNCATE ON security_overridingstrategies
    FOR EACH STATEMENT EXECUTE FUNCTION count_up_claims_version();

-- A claim that lay in itself would have no end of ancestors.
CREATE FUNCTION refuse_circle_of_resource_claims() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF EXISTS (
        WITH RECURSIVE ancestor (id) AS (
            SELECT NEW.parent_id
            UNION
            SELECT parent_id FROM security_resourceclaim JOIN ancestor USING (id)
        )
        SELECT FROM ancestor WHERE id = NEW.id
    ) THEN
        RAISE EXCEPTION 'The resource claim % would lie in itself.', NEW.name
            USING ERRCODE = 'check_violation', CONSTRAINT = 'resource_claims_form_a_tree';
    END IF;
    RETURN NULL;
END $$;

CREATE TRIGGER resource_claims_form_a_tree AFTER UPDATE OF parent_id ON security_resourceclaim
    FOR EACH ROW WHEN (NEW.parent_id IS NOT NULL) EXECUTE FUNCTION refuse_circle_of_resource_claims();
