-- Documents of another server come with the versions that they have there, and with the key changes that it has recorded:
-- `meadowlark.keeps_versions` is set for such a transaction. What is written again only for its envelope, or follows a
-- change of the key of its target, has no new version.
CREATE OR REPLACE FUNCTION supersede_document() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    keeps_versions boolean := coalesce(current_setting('meadowlark.keeps_versions', true), '') <> '';
BEGIN
    NEW.operation := 'update';
    IF keeps_versions THEN
        IF NEW.change_version = OLD.change_version OR NEW.body = OLD.body THEN
            RETURN NEW;
        END IF;
    ELSE
        NEW.change_version := next_change_version();
    END IF;
    IF NEW.natural_key <> OLD.natural_key AND NOT is_same_key(OLD.resource_type_id, OLD.body, NEW.body) THEN
        NEW.operation := 'key_change';
        IF NOT keeps_versions THEN
            INSERT INTO key_change (
                change_version, document_uuid, resource_type_id, old_key_values, new_key_values,
                organization, student, contact, staff, namespace, opens_pathway
            ) VALUES (
                NEW.change_version, OLD.document_uuid, OLD.resource_type_id,
                key_values(OLD.resource_type_id, OLD.body), key_values(OLD.resource_type_id, NEW.body),
                OLD.organization, OLD.student, OLD.contact, OLD.staff, OLD.namespace, OLD.opens_pathway
            );
        END IF;
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
