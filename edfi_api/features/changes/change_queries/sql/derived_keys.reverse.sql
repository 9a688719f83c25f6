DROP FUNCTION natural_key(superseded_document);
ALTER TABLE superseded_document ADD COLUMN natural_key text;
UPDATE superseded_document SET natural_key = natural_key(resource_type_id, body);
ALTER TABLE superseded_document ALTER COLUMN natural_key SET NOT NULL;

CREATE OR REPLACE VIEW document_change AS
SELECT change_version, operation, resource_type_id, document_uuid, natural_key, body,
       last_modified_by AS client, last_modified_at AS changed_at
  FROM document
UNION ALL
SELECT change_version, operation, resource_type_id, document_uuid, natural_key, body, last_modified_by, last_modified_at
  FROM superseded_document
UNION ALL
SELECT last_change_version, last_operation, resource_type_id, document_uuid, natural_key, body,
       last_modified_by, last_modified_at
  FROM deleted_document WHERE body IS NOT NULL
UNION ALL
SELECT change_version, 'delete', resource_type_id, document_uuid, natural_key, body, deleted_by, deleted_at
  FROM deleted_document;

CREATE OR REPLACE FUNCTION keep_deleted_document() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO deleted_document (
        change_version, document_uuid, resource_type_id, natural_key, key_values, aliases, body,
        organization, student, contact, staff, namespace, opens_pathway,
        created_by, created_at, last_change_version, last_operation, last_modified_by, last_modified_at,
        deleted_by, deleted_by_user
    ) VALUES (
        next_change_version(), OLD.document_uuid, OLD.resource_type_id, OLD.natural_key,
        key_values(OLD.resource_type_id, OLD.body),
        ARRAY(SELECT referential_id FROM alias WHERE document_id = OLD.id), OLD.body,
        OLD.organization, OLD.student, OLD.contact, OLD.staff, OLD.namespace, OLD.opens_pathway,
        OLD.created_by, OLD.created_at, OLD.change_version, OLD.operation, OLD.last_modified_by, OLD.last_modified_at,
        nullif(current_setting('meadowlark.client', true), '')::bigint,
        nullif(current_setting('meadowlark.user', true), '')
    );
    RETURN OLD;
END
$$;
