-- As in tracking.sql: every update gives a new version.
-- The row is locked when this runs, so OLD is what the update replaces, whatever concurrent transactions did.
CREATE OR REPLACE FUNCTION supersede_document() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    NEW.change_version := next_change_version();
    NEW.operation := 'update';
    IF NEW.natural_key <> OLD.natural_key AND NOT is_same_key(OLD.resource_type_id, OLD.body, NEW.body) THEN
        NEW.operation := 'key_change';
        INSERT INTO key_change (
            change_version, document_uuid, resource_type_id, old_key_values, new_key_values,
            organization, student, contact, staff, namespace, opens_pathway
        ) VALUES (
            NEW.change_version, OLD.document_uuid, OLD.resource_type_id,
            key_values(OLD.resource_type_id, OLD.body), key_values(OLD.resource_type_id, NEW.body),
            OLD.organization, OLD.student, OLD.contact, OLD.staff, OLD.namespace, OLD.opens_pathway
        );
    END IF;
    INSERT INTO superseded_document (
        change_version, operation, document_uuid, resource_type_id, natural_key, body,
        last_modified_by, last_modified_at
    ) VALUES (
        OLD.change_version, OLD.operation, OLD.document_uuid, OLD.resource_type_id, OLD.natural_key, OLD.body,
        OLD.last_modified_by, OLD.last_modified_at
    );
    RETURN NEW;
END
$$;
