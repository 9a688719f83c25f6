-- The triggers that keep what documents were before, and what a stream of changes reads.

CREATE FUNCTION key_values(resource_type_id smallint, body jsonb) RETURNS jsonb LANGUAGE sql STABLE
RETURN (
    SELECT coalesce(jsonb_object_agg(f.name, key_values.body #> f.path), '{}') FROM key_field f
     WHERE f.resource_type_id = key_values.resource_type_id
);

CREATE FUNCTION is_same_key(resource_type_id smallint, old_body jsonb, new_body jsonb) RETURNS boolean
LANGUAGE sql STABLE
RETURN (
    SELECT coalesce(bool_and(
        CASE WHEN f.ignores_case THEN lower(old_body #>> f.path) = lower(new_body #>> f.path)
             ELSE old_body #> f.path = new_body #> f.path END
    ), true) FROM key_field f
     WHERE f.resource_type_id = is_same_key.resource_type_id
);

-- The row is locked when this runs, so OLD is what the update replaces, whatever concurrent transactions did.
CREATE FUNCTION supersede_document() RETURNS trigger LANGUAGE plpgsql AS $$
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

-- Other columns of a document are no part of its versions.
CREATE TRIGGER document_is_superseded BEFORE UPDATE OF body ON document
    FOR EACH ROW EXECUTE FUNCTION supersede_document();
COMMENT ON TRIGGER document_is_superseded ON document IS 'Keeps the version that an update replaces, and gives the document a new one.';

CREATE FUNCTION keep_deleted_document() RETURNS trigger LANGUAGE plpgsql AS $$
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

CREATE TRIGGER document_is_deleted BEFORE DELETE ON document
    FOR EACH ROW EXECUTE FUNCTION keep_deleted_document();
COMMENT ON TRIGGER document_is_deleted ON document IS 'Keeps what a delete removes.';

-- Every change whose body is still known, one row for each version. Read in windows of versions that end at
-- `newest_change_version()`, and by resource type, each branch is one index scan.
CREATE VIEW document_change AS
SELECT change_version, operation, resource_type_id, document_uuid, natural_key, body,
       last_modified_by AS client, last_modified_at AS changed_at
  FROM document
UNION ALL
SELECT change_version, operation, resource_type_id, document_uuid, natural_key, body,
       last_modified_by, last_modified_at
  FROM superseded_document
UNION ALL
SELECT last_change_version, last_operation, resource_type_id, document_uuid, natural_key, body,
       last_modified_by, last_modified_at
  FROM deleted_document WHERE body IS NOT NULL
UNION ALL
SELECT change_version, 'delete', resource_type_id, document_uuid, natural_key, body, deleted_by, deleted_at
  FROM deleted_document;
COMMENT ON VIEW document_change IS 'Every known change: insert, update, key_change and delete.';
