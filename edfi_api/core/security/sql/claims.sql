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

-- A claim below itself would have no end of ancestors.
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

-- An application names its claim set, which need not exist. These triggers keep `claim_set_id` at the claim set of that
-- name that the vendor's tenant can use, and null without one.
CREATE FUNCTION resolve_claim_set_of_application() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    of_tenant bigint;
BEGIN
    IF NEW.claim_set_id IS NOT NULL AND (TG_OP = 'INSERT' OR NEW.claim_set_id IS DISTINCT FROM OLD.claim_set_id) THEN
        NEW.claim_set_name := coalesce(
            (SELECT c.name FROM security_claimset c WHERE c.id = NEW.claim_set_id), NEW.claim_set_name
        );
    ELSIF TG_OP = 'UPDATE' AND NEW.claim_set_name = '' THEN
        NEW.claim_set_name := OLD.claim_set_name;
    ELSIF TG_OP = 'INSERT' OR NEW.claim_set_name IS DISTINCT FROM OLD.claim_set_name THEN
        SELECT v.tenant_id INTO of_tenant FROM security_vendor v WHERE v.id = NEW.vendor_id;
        -- Locked, so that the claim set is not deleted before this transaction ends.
        SELECT c.id INTO NEW.claim_set_id FROM security_claimset c
         WHERE lower(c.name) = lower(NEW.claim_set_name) AND (c.tenant_id IS NULL OR c.tenant_id = of_tenant)
         ORDER BY c.name = NEW.claim_set_name DESC LIMIT 1 FOR KEY SHARE;
        IF NEW.claim_set_id IS NULL THEN
            -- A concurrent transaction may be creating it without seeing this application. Changes of claim sets hold
            -- the row of the version until they end.
            PERFORM FROM claims_version FOR SHARE;
            SELECT c.id INTO NEW.claim_set_id FROM security_claimset c
             WHERE lower(c.name) = lower(NEW.claim_set_name) AND (c.tenant_id IS NULL OR c.tenant_id = of_tenant)
             ORDER BY c.name = NEW.claim_set_name DESC LIMIT 1 FOR KEY SHARE;
        END IF;
    END IF;
    RETURN NEW;
END $$;

CREATE TRIGGER claim_set_is_resolved BEFORE INSERT OR UPDATE OF claim_set_id, claim_set_name ON security_application
    FOR EACH ROW EXECUTE FUNCTION resolve_claim_set_of_application();

CREATE FUNCTION resolve_applications_of_claim_set() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'DELETE' THEN
        UPDATE security_application SET claim_set_id = NULL WHERE claim_set_id = OLD.id;
        RETURN OLD;
    END IF;
    UPDATE security_application SET claim_set_name = NEW.name
     WHERE claim_set_id = NEW.id AND claim_set_name <> NEW.name;
    UPDATE security_application a SET claim_set_id = NEW.id
      FROM security_vendor v
     WHERE v.id = a.vendor_id AND a.claim_set_id IS NULL AND lower(a.claim_set_name) = lower(NEW.name)
       AND (NEW.tenant_id IS NULL OR NEW.tenant_id = v.tenant_id);
    RETURN NULL;
END $$;

CREATE TRIGGER applications_are_resolved AFTER INSERT OR UPDATE OF name ON security_claimset
    FOR EACH ROW EXECUTE FUNCTION resolve_applications_of_claim_set();

CREATE TRIGGER applications_are_left BEFORE DELETE ON security_claimset
    FOR EACH ROW EXECUTE FUNCTION resolve_applications_of_claim_set();

-- A trigger instead of a constraint: only ids that are written are checked.
CREATE FUNCTION refuse_organization_ids_below_one() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF (TG_OP = 'INSERT' OR NEW.education_organization_ids <> OLD.education_organization_ids)
       AND NOT 0 < ALL (NEW.education_organization_ids) THEN
        RAISE EXCEPTION 'Application % has an education organization id below 1.', NEW.name
            USING ERRCODE = 'check_violation', CONSTRAINT = 'education_organization_ids_are_positive';
    END IF;
    RETURN NEW;
END $$;

CREATE TRIGGER education_organization_ids_are_positive
    BEFORE INSERT OR UPDATE OF education_organization_ids ON security_application
    FOR EACH ROW EXECUTE FUNCTION refuse_organization_ids_below_one();
