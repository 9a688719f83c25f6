DROP TRIGGER claims_version ON profiles_profileassignment;
DROP TRIGGER claims_version ON profiles_profile;
