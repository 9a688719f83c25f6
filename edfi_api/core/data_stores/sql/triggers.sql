CREATE FUNCTION count_up_data_stores_version() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO data_stores_version AS present (version) VALUES (1)
    ON CONFLICT (id) DO UPDATE SET version = present.version + 1;
    RETURN NULL;
END $$;

CREATE TRIGGER data_stores_version BEFORE INSERT OR UPDATE OR DELETE OR TRUNCATE ON tenant
    FOR EACH STATEMENT EXECUTE FUNCTION count_up_data_stores_version();

CREATE TRIGGER data_stores_version BEFORE INSERT OR UPDATE OR DELETE OR TRUNCATE ON data_store
    FOR EACH STATEMENT EXECUTE FUNCTION count_up_data_stores_version();

CREATE TRIGGER data_stores_version BEFORE INSERT OR UPDATE OR DELETE OR TRUNCATE ON data_store_context
    FOR EACH STATEMENT EXECUTE FUNCTION count_up_data_stores_version();

CREATE TRIGGER data_stores_version BEFORE INSERT OR UPDATE OR DELETE OR TRUNCATE ON data_store_derivative
    FOR EACH STATEMENT EXECUTE FUNCTION count_up_data_stores_version();

-- The alias of a database has the revision, so nothing that a process keeps under the alias of the former database is
-- used for the next one.
CREATE FUNCTION count_up_revision() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    NEW.revision := OLD.revision + 1;
    RETURN NEW;
END $$;

CREATE TRIGGER revision BEFORE UPDATE OF connection ON data_store
    FOR EACH ROW WHEN (NEW.connection IS DISTINCT FROM OLD.connection) EXECUTE FUNCTION count_up_revision();

CREATE TRIGGER revision BEFORE UPDATE OF connection ON data_store_derivative
    FOR EACH ROW WHEN (NEW.connection IS DISTINCT FROM OLD.connection) EXECUTE FUNCTION count_up_revision();

-- What belongs to a tenant is checked when it is connected with other rows; a row that could change its tenant would
-- take those connections along.
CREATE FUNCTION refuse_change_of_tenant() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'The tenant of a row of % cannot be changed.', TG_TABLE_NAME
        USING ERRCODE = 'check_violation', CONSTRAINT = 'tenant_is_final';
END $$;

CREATE TRIGGER tenant_is_final BEFORE UPDATE OF tenant_id ON data_store
    FOR EACH ROW WHEN (NEW.tenant_id IS DISTINCT FROM OLD.tenant_id) EXECUTE FUNCTION refuse_change_of_tenant();

-- Who wrote a row first and last, and when. With an argument, the table has no columns of times.
CREATE FUNCTION note_writer() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    writer text := coalesce(nullif(current_setting('meadowlark.writer', true), ''), 'command');
BEGIN
    IF TG_OP = 'INSERT' THEN
        NEW.created_by := writer;
        IF TG_NARGS = 0 THEN
            NEW.created_at := now();
        END IF;
    ELSE
        NEW.created_by := OLD.created_by;
        NEW.modified_by := OLD.modified_by;
        IF TG_NARGS = 0 THEN
            NEW.created_at := OLD.created_at;
            NEW.modified_at := OLD.modified_at;
        END IF;
        IF NEW IS NOT DISTINCT FROM OLD THEN
            RETURN NEW;
        END IF;
    END IF;
    NEW.modified_by := writer;
    IF TG_NARGS = 0 THEN
        NEW.modified_at := now();
    END IF;
    RETURN NEW;
END $$;

CREATE TRIGGER writer_is_noted BEFORE INSERT OR UPDATE ON tenant
    FOR EACH ROW EXECUTE FUNCTION note_writer();

CREATE TRIGGER writer_is_noted BEFORE INSERT OR UPDATE ON data_store
    FOR EACH ROW EXECUTE FUNCTION note_writer();

CREATE TRIGGER writer_is_noted BEFORE INSERT OR UPDATE ON data_store_context
    FOR EACH ROW EXECUTE FUNCTION note_writer();

CREATE TRIGGER writer_is_noted BEFORE INSERT OR UPDATE ON data_store_derivative
    FOR EACH ROW EXECUTE FUNCTION note_writer();
