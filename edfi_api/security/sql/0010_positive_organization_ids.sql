-- Only ids that are written are checked: an application that has had a wrong one for long can still be changed otherwise.
ALTER TABLE security_application DROP CONSTRAINT education_organization_ids_are_positive;

CREATE FUNCTION refuse_organization_ids_below_one() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF (TG_OP = 'INSERT' OR NEW.education_organization_ids <> OLD.education_organization_ids)
       AND NOT 0 < ALL (NEW.education_organization_ids) THEN
        RAISE EXCEPTION 'Application % has an education organization id below 1.', NEW.name
            USING ERRCODE = 'check_violation', CONSTRAINT = 'education_organization_ids_are_positive';
    END IF;
    RETURN NEW;
END $$;

CREATE TRIGGER education_organization_ids_are_positive
    BEFORE INSERT OR UPDATE OF education_organization_ids ON security_application
    FOR EACH ROW EXECUTE FUNCTION refuse_organization_ids_below_one();
