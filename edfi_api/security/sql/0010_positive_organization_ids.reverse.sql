DROP FUNCTION refuse_organization_ids_below_one CASCADE;
-- Claim sets that applications name and that do not exist, without grants: the migration before this one needs them when
-- it is reverted, and its transaction cannot make them, since it alters the tables afterwards.
INSERT INTO security_claimset (name, description, is_system_reserved)
SELECT DISTINCT ON (lower(a.claim_set_name)) a.claim_set_name, '', false
  FROM security_application a WHERE a.claim_set_id IS NULL;
SET CONSTRAINTS ALL IMMEDIATE;
ALTER TABLE security_application ADD CONSTRAINT education_organization_ids_are_positive
    CHECK (0 < ALL (education_organization_ids)) NOT VALID;
