CREATE TRIGGER writer_is_noted BEFORE INSERT OR UPDATE ON management_api_managementclient
    FOR EACH ROW EXECUTE FUNCTION note_writer();
