COMMENT ON COLUMN deleted_document.deleted_by IS NULL;
DROP INDEX deleted_document_key;
DROP FUNCTION key_texts;
DROP INDEX deleted_document_day;
DROP INDEX deleted_document_client;
CREATE OR REPLACE FUNCTION keep_deleted_document() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO deleted_document (
        change_version, document_uuid, resource_type_id, natural_key, key_values, aliases, body,
        organization, student, contact, staff, namespace, opens_pathway,
        created_by, created_at, last_change_version, last_operation, last_modified_by, last_modified_at, deleted_by
    ) VALUES (
        next_change_version(), OLD.document_uuid, OLD.resource_type_id, OLD.natural_key,
        key_values(OLD.resource_type_id, OLD.body),
        ARRAY(SELECT referential_id FROM alias WHERE document_id = OLD.id), OLD.body,
        OLD.organization, OLD.student, OLD.contact, OLD.staff, OLD.namespace, OLD.opens_pathway,
        OLD.created_by, OLD.created_at, OLD.change_version, OLD.operation, OLD.last_modified_by, OLD.last_modified_at,
        nullif(current_setting('meadowlark.client', true), '')::bigint
    );
    RETURN OLD;
END
$$;
ALTER TABLE deleted_document DROP COLUMN deleted_by_user;
