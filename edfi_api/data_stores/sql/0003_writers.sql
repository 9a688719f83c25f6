-- Who wrote a row first and last, and when. Rows of earlier versions keep empty columns until they are changed.
-- Without an argument the table also has the columns of times.
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
