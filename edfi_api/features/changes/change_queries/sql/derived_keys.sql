-- Until the first `migrate` of a version that serves them has filled the paths, and for resources that the standard no
-- longer has, they are those of key fields.
UPDATE resource_type t SET key_paths = (
    SELECT array_agg(array_to_string(f.path, '.') ORDER BY array_to_string(f.path, '.') COLLATE "C")
      FROM key_field f WHERE f.resource_type_id = t.id
) WHERE t.name NOT LIKE '%Descriptor';

-- As in kept_versions.sql. Only a comparison of the key values finds that a key has changed.
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
    IF NOT is_same_key(OLD.resource_type_id, OLD.body, NEW.body) THEN
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
        change_version, operation, document_uuid, resource_type_id, body, last_modified_by, last_modified_at
    ) VALUES (
        OLD.change_version, coalesce(OLD.operation, 'insert'), OLD.document_uuid, OLD.resource_type_id, OLD.body,
        OLD.last_modified_by, OLD.last_modified_at
    );
    RETURN NEW;
END
$$;

-- A deleted document keeps its key: its body is purged.
CREATE OR REPLACE FUNCTION keep_deleted_document() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO deleted_document (
        change_version, document_uuid, resource_type_id, natural_key, key_values, aliases, body,
        organization, student, contact, staff, namespace, opens_pathway,
        created_by, created_at, last_change_version, last_operation, last_modified_by, last_modified_at,
        deleted_by, deleted_by_user
    ) VALUES (
        next_change_version(), OLD.document_uuid, OLD.resource_type_id,
        natural_key(OLD.resource_type_id, OLD.body), key_values(OLD.resource_type_id, OLD.body),
        ARRAY(SELECT referential_id FROM alias WHERE document_id = OLD.id), OLD.body,
        OLD.organization, OLD.student, OLD.contact, OLD.staff, OLD.namespace, OLD.opens_pathway,
        OLD.created_by, OLD.created_at, OLD.change_version, coalesce(OLD.operation, 'insert'), OLD.last_modified_by,
        OLD.last_modified_at, nullif(current_setting('meadowlark.client', true), '')::bigint,
        nullif(current_setting('meadowlark.user', true), '')
    );
    RETURN OLD;
END
$$;

CREATE OR REPLACE VIEW document_change AS
SELECT change_version, coalesce(operation, 'insert') AS operation, resource_type_id, document_uuid,
       natural_key(resource_type_id, body) AS natural_key, body, last_modified_by AS client,
       last_modified_at AS changed_at
  FROM document
UNION ALL
SELECT change_version, operation, resource_type_id, document_uuid, natural_key(resource_type_id, body), body,
       last_modified_by, last_modified_at
  FROM superseded_document
UNION ALL
SELECT last_change_version, last_operation, resource_type_id, document_uuid, natural_key, body,
       last_modified_by, last_modified_at
  FROM deleted_document WHERE body IS NOT NULL
UNION ALL
SELECT change_version, 'delete', resource_type_id, document_uuid, natural_key, body, deleted_by, deleted_at
  FROM deleted_document;

ALTER TABLE superseded_document DROP COLUMN natural_key;
CREATE FUNCTION natural_key(superseded_document) RETURNS text LANGUAGE sql STABLE PARALLEL SAFE
RETURN natural_key($1.resource_type_id, $1.body);
COMMENT ON FUNCTION natural_key(superseded_document) IS 'The natural key of a version, as if it were a column.';
