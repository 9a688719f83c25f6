CREATE TRIGGER tenant_is_final BEFORE UPDATE OF tenant_id ON security_vendor
    FOR EACH ROW WHEN (NEW.tenant_id IS DISTINCT FROM OLD.tenant_id) EXECUTE FUNCTION refuse_change_of_tenant();

CREATE TRIGGER tenant_is_final BEFORE UPDATE OF tenant_id ON security_claimset
    FOR EACH ROW WHEN (NEW.tenant_id IS DISTINCT FROM OLD.tenant_id) EXECUTE FUNCTION refuse_change_of_tenant();

-- The name of a shared claim set is taken for all tenants, in any case.
CREATE FUNCTION refuse_name_of_shared_claim_set() RETURNS trigger LANGUAGE plpgsql AS $$
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

CREATE TRIGGER claim_set_name_is_not_shared AFTER INSERT OR UPDATE OF name ON security_claimset
    FOR EACH ROW EXECUTE FUNCTION refuse_name_of_shared_claim_set();

-- The tenant of an application is its vendor's, that of a client its application's.
CREATE FUNCTION refuse_application_of_two_tenants() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF EXISTS (
        SELECT FROM security_vendor v, security_claimset c
         WHERE v.id = NEW.vendor_id AND c.id = NEW.claim_set_id
           AND c.tenant_id IS NOT NULL AND c.tenant_id IS DISTINCT FROM v.tenant_id
    ) OR TG_OP = 'UPDATE' AND EXISTS (
        SELECT FROM security_vendor old_vendor, security_vendor new_vendor
         WHERE old_vendor.id = OLD.vendor_id AND new_vendor.id = NEW.vendor_id
           AND old_vendor.tenant_id IS DISTINCT FROM new_vendor.tenant_id
    ) THEN
        RAISE EXCEPTION 'Application % would be of two tenants.', NEW.id
            USING ERRCODE = 'check_violation', CONSTRAINT = 'application_is_of_one_tenant';
    END IF;
    RETURN NULL;
END $$;

CREATE TRIGGER application_is_of_one_tenant AFTER INSERT OR UPDATE OF vendor_id, claim_set_id ON security_application
    FOR EACH ROW EXECUTE FUNCTION refuse_application_of_two_tenants();

CREATE FUNCTION refuse_client_of_two_tenants() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF EXISTS (
        SELECT FROM security_application old_application
          JOIN security_vendor old_vendor ON old_vendor.id = old_application.vendor_id,
               security_application new_application
          JOIN security_vendor new_vendor ON new_vendor.id = new_application.vendor_id
         WHERE old_application.id = OLD.application_id AND new_application.id = NEW.application_id
           AND old_vendor.tenant_id IS DISTINCT FROM new_vendor.tenant_id
    ) THEN
        RAISE EXCEPTION 'Client % would be of two tenants.', NEW.id
            USING ERRCODE = 'check_violation', CONSTRAINT = 'client_is_of_one_tenant';
    END IF;
    RETURN NULL;
END $$;

CREATE TRIGGER client_is_of_one_tenant AFTER UPDATE OF application_id ON security_apiclient
    FOR EACH ROW EXECUTE FUNCTION refuse_client_of_two_tenants();

CREATE FUNCTION refuse_data_store_of_another_tenant() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF EXISTS (
        SELECT FROM data_store s, security_apiclient c
          JOIN security_application a ON a.id = c.application_id
          JOIN security_vendor v ON v.id = a.vendor_id
         WHERE s.id = NEW.data_store_id AND c.id = NEW.api_client_id AND s.tenant_id IS DISTINCT FROM v.tenant_id
    ) THEN
        RAISE EXCEPTION 'Client % and data store % are of different tenants.', NEW.api_client_id, NEW.data_store_id
            USING ERRCODE = 'check_violation', CONSTRAINT = 'data_store_is_of_the_tenant';
    END IF;
    RETURN NULL;
END $$;

CREATE TRIGGER data_store_is_of_the_tenant AFTER INSERT OR UPDATE ON api_client_data_store
    FOR EACH ROW EXECUTE FUNCTION refuse_data_store_of_another_tenant();

CREATE TRIGGER data_stores_version BEFORE INSERT OR UPDATE OR DELETE OR TRUNCATE ON api_client_data_store
    FOR EACH STATEMENT EXECUTE FUNCTION count_up_data_stores_version();

CREATE TRIGGER writer_is_noted BEFORE INSERT OR UPDATE ON security_vendor
    FOR EACH ROW EXECUTE FUNCTION note_writer();

CREATE TRIGGER writer_is_noted BEFORE INSERT OR UPDATE ON security_application
    FOR EACH ROW EXECUTE FUNCTION note_writer();

CREATE TRIGGER writer_is_noted BEFORE INSERT OR UPDATE ON security_claimset
    FOR EACH ROW EXECUTE FUNCTION note_writer();

CREATE TRIGGER writer_is_noted BEFORE INSERT OR UPDATE ON security_resourceclaim
    FOR EACH ROW EXECUTE FUNCTION note_writer();

-- django-oauth-toolkit has columns of its own for the times.
CREATE TRIGGER writer_is_noted BEFORE INSERT OR UPDATE ON security_apiclient
    FOR EACH ROW EXECUTE FUNCTION note_writer('without times');
