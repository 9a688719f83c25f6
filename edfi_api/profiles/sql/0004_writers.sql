CREATE TRIGGER writer_is_noted BEFORE INSERT OR UPDATE ON profiles_profile
    FOR EACH ROW EXECUTE FUNCTION note_writer();
