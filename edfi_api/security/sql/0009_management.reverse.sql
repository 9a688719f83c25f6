ALTER TABLE security_application DROP CONSTRAINT education_organization_ids_are_positive;
DROP FUNCTION resolve_applications_of_claim_set CASCADE;
DROP FUNCTION resolve_claim_set_of_application CASCADE;
CREATE OR REPLACE FUNCTION refuse_name_of_shared_claim_set() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF EXISTS (
        SELECT FROM security_claimset c
         WHERE c.name = NEW.name AND c.id <> NEW.id AND (c.tenant_id IS NULL OR NEW.tenant_id IS NULL)
    ) THEN
        RAISE EXCEPTION 'There is a claim set % already.', NEW.name
            USING ERRCODE = 'unique_violation', CONSTRAINT = 'claim_set_name_is_not_shared';
    END IF;
    RETURN NULL;
END $$;
-- The column can be null no more; applications without a claim set grant nothing, as one without grants does.
INSERT INTO security_claimset (name, description, is_system_reserved)
SELECT DISTINCT ON (lower(a.claim_set_name)) a.claim_set_name, '', false
  FROM security_application a WHERE a.claim_set_id IS NULL;
UPDATE security_application a SET claim_set_id = c.id FROM security_claimset c
 WHERE a.claim_set_id IS NULL AND lower(c.name) = lower(a.claim_set_name);
