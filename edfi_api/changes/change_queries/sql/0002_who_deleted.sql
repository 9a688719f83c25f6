-- A document that a user of the admin deletes has no API client; the name of the user is kept instead.
ALTER TABLE deleted_document ADD COLUMN deleted_by_user text;

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

-- Serves the admin's list of what one client deleted, the latest first.
CREATE INDEX deleted_document_client ON deleted_document (deleted_by, change_version);
-- Serves the admin's choice of days; rows come in the order of this column.
CREATE INDEX deleted_document_day ON deleted_document USING brin (deleted_at);

-- The values of a natural key as text, without regard to case: {604822,2025-08-20}.
CREATE FUNCTION key_texts(key_values jsonb) RETURNS text[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
RETURN ARRAY(SELECT lower(value) FROM jsonb_each_text(key_values));

-- Serves the admin's search for deleted documents by what stands in their keys. Each search reads the list of pending
-- entries whole, so it is kept short.
CREATE INDEX deleted_document_key ON deleted_document USING gin (key_texts(key_values))
    WITH (gin_pending_list_limit = 256);

COMMENT ON COLUMN deleted_document.deleted_by IS 'API client that deleted the document.';
COMMENT ON COLUMN deleted_document.deleted_by_user IS 'User of the admin who deleted the document.';
