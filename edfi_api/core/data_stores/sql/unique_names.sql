-- Names of data stores, and types of the derivatives of one, are unique only for a writer that asks for it, as version 2
-- of the management API does: others may repeat them, and what is repeated stays. Transactions that write these tables
-- come one after the other, since each waits for the row of `data_stores_version`, so none overlooks another.
CREATE FUNCTION refuse_name_of_another_data_store() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF EXISTS (
        SELECT FROM data_store d
         WHERE d.name = NEW.name AND d.tenant_id IS NOT DISTINCT FROM NEW.tenant_id AND d.id <> NEW.id
    ) THEN
        RAISE EXCEPTION 'There is a data store % already.', NEW.name
            USING ERRCODE = 'unique_violation', CONSTRAINT = 'data_store_name_is_unique';
    END IF;
    RETURN NULL;
END $$;

CREATE TRIGGER data_store_name_is_unique AFTER INSERT OR UPDATE OF name ON data_store
    FOR EACH ROW WHEN (current_setting('meadowlark.unique_names', true) = 'on')
    EXECUTE FUNCTION refuse_name_of_another_data_store();

CREATE FUNCTION refuse_type_of_another_derivative() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF EXISTS (
        SELECT FROM data_store_derivative d
         WHERE d.data_store_id = NEW.data_store_id AND d.type = NEW.type AND d.id <> NEW.id
    ) THEN
        RAISE EXCEPTION 'The data store % has a derivative of type % already.', NEW.data_store_id, NEW.type
            USING ERRCODE = 'unique_violation', CONSTRAINT = 'derivative_type_is_unique';
    END IF;
    RETURN NULL;
END $$;

CREATE TRIGGER derivative_type_is_unique AFTER INSERT OR UPDATE OF data_store_id, type ON data_store_derivative
    FOR EACH ROW WHEN (current_setting('meadowlark.unique_names', true) = 'on')
    EXECUTE FUNCTION refuse_type_of_another_derivative();
