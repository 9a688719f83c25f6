DROP TABLE document;
DROP FUNCTION scoped_body;
DROP SEQUENCE change_version;
DROP TABLE resource_type;
