DROP TRIGGER writer_is_noted ON profiles_profile;
