CREATE TRIGGER tenant_is_final BEFORE UPDATE OF tenant_id ON profiles_profile
    FOR EACH ROW WHEN (NEW.tenant_id IS DISTINCT FROM OLD.tenant_id) EXECUTE FUNCTION refuse_change_of_tenant();

-- As with claim sets, the name of a shared profile is taken for all tenants.
CREATE FUNCTION refuse_name_of_shared_profile() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF EXISTS (
        SELECT FROM profiles_profile p
         WHERE lower(p.name) = lower(NEW.name) AND p.id <> NEW.id AND (p.tenant_id IS NULL OR NEW.tenant_id IS NULL)
    ) THEN
        RAISE EXCEPTION 'There is a profile % already.', NEW.name
            USING ERRCODE = 'unique_violation', CONSTRAINT = 'profile_name_is_not_shared';
    END IF;
    RETURN NULL;
END $$;

CREATE TRIGGER profile_name_is_not_shared AFTER INSERT OR UPDATE OF name ON profiles_profile
    FOR EACH ROW EXECUTE FUNCTION refuse_name_of_shared_profile();

CREATE FUNCTION refuse_profile_of_another_tenant() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF EXISTS (
        SELECT FROM profiles_profile p, security_application a
          JOIN security_vendor v ON v.id = a.vendor_id
         WHERE p.id = NEW.profile_id AND a.id = NEW.application_id
           AND p.tenant_id IS NOT NULL AND p.tenant_id IS DISTINCT FROM v.tenant_id
    ) THEN
        RAISE EXCEPTION 'Application % and profile % are of different tenants.', NEW.application_id, NEW.profile_id
            USING ERRCODE = 'check_violation', CONSTRAINT = 'profile_is_of_the_tenant';
    END IF;
    RETURN NULL;
END $$;

CREATE TRIGGER profile_is_of_the_tenant AFTER INSERT OR UPDATE ON profiles_profileassignment
    FOR EACH ROW EXECUTE FUNCTION refuse_profile_of_another_tenant();
