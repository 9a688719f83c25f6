-- The resources of the served surface; filled after migrate. A number never changes its meaning.
CREATE TABLE resource_type (
    id smallint PRIMARY KEY,
    project text NOT NULL,
    name text NOT NULL,
    endpoint text NOT NULL,
    UNIQUE (project, name)
);

-- One sequence for all documents: what changed since is a matter of one number.
CREATE SEQUENCE change_version AS bigint;

-- The envelope outside, the Ed-Fi body untouched inside.
CREATE TABLE document (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    document_uuid uuid NOT NULL CONSTRAINT document_uuid_unique UNIQUE,
    resource_type_id smallint NOT NULL,
    natural_key text NOT NULL,
    body jsonb NOT NULL,
    created_by bigint,
    created_at timestamptz NOT NULL DEFAULT now(),
    last_modified_at timestamptz NOT NULL DEFAULT now(),
    change_version bigint NOT NULL DEFAULT nextval('change_version')
);

-- Serves a page of a collection in insertion order.
CREATE INDEX document_page ON document (resource_type_id, id);

-- `{"266": {...}}`: a body below the number of its resource.
CREATE FUNCTION scoped_body(resource_type_id smallint, body jsonb) RETURNS jsonb
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
    RETURN jsonb_build_object(resource_type_id, body);

-- Serves query by example: containment (@>) of the asked values in the bodies of one resource. With the resource in
-- the keys, an entry leads to rows of that resource alone, and the statistics tell how often it has the value.
CREATE INDEX document_scoped_body ON document USING gin (scoped_body(resource_type_id, body) jsonb_path_ops);

ALTER TABLE document
    ADD CONSTRAINT document_resource_type_fk FOREIGN KEY (resource_type_id) REFERENCES resource_type (id);

COMMENT ON TABLE document IS 'All Ed-Fi documents, descriptors included.';
COMMENT ON COLUMN document.document_uuid IS 'The id that clients see (UUID version 7).';
COMMENT ON COLUMN document.natural_key IS 'Identity as text, for people; uniqueness is the alias table''s.';
COMMENT ON COLUMN document.created_by IS 'API client that created the document.';
COMMENT ON COLUMN document.change_version IS 'Taken anew at every write that changes the body; also the ETag.';
