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
