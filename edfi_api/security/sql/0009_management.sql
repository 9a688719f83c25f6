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

-- Names of claim sets are unique in any case, for those that are added from now on.
CREATE OR REPLACE FUNCTION refuse_name_of_shared_claim_set() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF EXISTS (
        SELECT FROM security_claimset c
         WHERE lower(c.name) = lower(NEW.name) AND c.id <> NEW.id
           AND (c.tenant_id IS NULL OR NEW.tenant_id IS NULL OR c.tenant_id = NEW.tenant_id)
    ) THEN
        RAISE EXCEPTION 'There is a claim set % already.', NEW.name
            USING ERRCODE = 'unique_violation', CONSTRAINT = 'claim_set_name_is_not_shared';
    END IF;
    RETURN NULL;
END $$;

-- Not for the rows that exist: a wrong id in one of them must not stop an update of the server.
ALTER TABLE security_application ADD CONSTRAINT education_organization_ids_are_positive
    CHECK (0 < ALL (education_organization_ids)) NOT VALID;
