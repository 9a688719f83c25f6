DROP FUNCTION refuse_circle_of_resource_claims CASCADE;
DROP FUNCTION count_up_claims_version CASCADE;
DROP TABLE claims_version;
