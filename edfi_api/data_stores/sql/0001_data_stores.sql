-- Whether data stores have changed since a process read them is one number. A change waits for the row of another
-- change that has not ended yet, so a process that has read a version has seen every change up to it.
CREATE TABLE data_stores_version (
    id      smallint PRIMARY KEY DEFAULT 1 CHECK (id = 1),
    version bigint NOT NULL
);
INSERT INTO data_stores_version (version) VALUES (1);

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
