-- Processes compile profiles once and keep them until the version has changed, as they do with claim sets.
CREATE TRIGGER claims_version BEFORE INSERT OR UPDATE OR DELETE OR TRUNCATE ON profiles_profile
    FOR EACH STATEMENT EXECUTE FUNCTION count_up_claims_version();
CREATE TRIGGER claims_version BEFORE INSERT OR UPDATE OR DELETE OR TRUNCATE ON profiles_profileassignment
    FOR EACH STATEMENT EXECUTE FUNCTION count_up_claims_version();
