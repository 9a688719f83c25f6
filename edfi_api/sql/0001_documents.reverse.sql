DROP TABLE document;
DROP FUNCTION scoped_body;
DROP FUNCTION newest_change_version;
DROP FUNCTION next_change_version;
DROP FUNCTION notify_listeners;
DROP FUNCTION change_version_lock;
DROP SEQUENCE change_version;
DROP TABLE resource_type;
