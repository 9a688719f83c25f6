DROP TABLE document;
DROP SEQUENCE change_version;
DROP TABLE resource_type;
