-- What belongs to a tenant is checked when it is connected with other rows; a row that could change its tenant would
-- take those connections along.
CREATE FUNCTION refuse_change_of_tenant() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'The tenant of a row of % cannot be changed.', TG_TABLE_NAME
        USING ERRCODE = 'check_violation', CONSTRAINT = 'tenant_is_final';
END $$;

CREATE TRIGGER tenant_is_final BEFORE UPDATE OF tenant_id ON data_store
    FOR EACH ROW WHEN (NEW.tenant_id IS DISTINCT FROM OLD.tenant_id) EXECUTE FUNCTION refuse_change_of_tenant();
