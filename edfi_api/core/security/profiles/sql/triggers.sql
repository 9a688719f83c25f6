-- Processes compile profiles once and keep them until the version has changed, as they do with claim sets.
CREATE TRIGGER claims_version BEFORE INSERT OR UPDATE OR DELETE OR TRUNCATE ON profiles_profile
    FOR EACH STATEMENT EXECUTE FUNCTION count_up_claims_version();

CREATE TRIGGER claims_version BEFORE INSERT OR UPDATE OR DELETE OR TRUNCATE ON profiles_profileassignment
    FOR EACH STATEMENT EXECUTE FUNCTION count_up_claims_version();

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

-- What was sent belongs to the definition that was read from it.
CREATE FUNCTION clear_sent_definition() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    NEW.sent := '';
    RETURN NEW;
END $$;

CREATE TRIGGER sent_definition_is_current BEFORE UPDATE OF definition ON profiles_profile
    FOR EACH ROW WHEN (NEW.definition <> OLD.definition AND NEW.sent = OLD.sent)
    EXECUTE FUNCTION clear_sent_definition();

CREATE TRIGGER writer_is_noted BEFORE INSERT OR UPDATE ON profiles_profile
    FOR EACH ROW EXECUTE FUNCTION note_writer();
