CREATE TRIGGER writer_is_noted BEFORE INSERT OR UPDATE ON exchange_connection
    FOR EACH ROW EXECUTE FUNCTION note_writer();

-- Data store and client of a connection belong to one tenant, or its client would write into the documents of another.
CREATE FUNCTION refuse_connection_of_two_tenants() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NEW.data_store_id IS NOT NULL AND EXISTS (
        SELECT FROM data_store s, security_apiclient c
          JOIN security_application a ON a.id = c.application_id
          JOIN security_vendor v ON v.id = a.vendor_id
         WHERE s.id = NEW.data_store_id AND c.id = NEW.api_client_id AND s.tenant_id IS DISTINCT FROM v.tenant_id
    ) THEN
        RAISE EXCEPTION 'The data store and the API client of a connection belong to different tenants.'
            USING ERRCODE = 'check_violation', CONSTRAINT = 'connection_of_one_tenant';
    END IF;
    RETURN NEW;
END $$;

CREATE TRIGGER connection_of_one_tenant BEFORE INSERT OR UPDATE OF data_store_id, api_client_id ON exchange_connection
    FOR EACH ROW EXECUTE FUNCTION refuse_connection_of_two_tenants();
