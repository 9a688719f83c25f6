DROP TRIGGER writer_is_noted ON security_apiclient;
DROP TRIGGER writer_is_noted ON security_resourceclaim;
DROP TRIGGER writer_is_noted ON security_claimset;
DROP TRIGGER writer_is_noted ON security_application;
DROP TRIGGER writer_is_noted ON security_vendor;
