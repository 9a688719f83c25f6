-- What was sent belongs to the definition that was read from it.
CREATE FUNCTION clear_sent_definition() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    NEW.sent := '';
    RETURN NEW;
END $$;

CREATE TRIGGER sent_definition_is_current BEFORE UPDATE OF definition ON profiles_profile
    FOR EACH ROW WHEN (NEW.definition <> OLD.definition AND NEW.sent = OLD.sent)
    EXECUTE FUNCTION clear_sent_definition();
