-- The type of the referrer stands in the row too. With it, what refers to a document is read type by type in order of
-- creation, one page at a time: a school or a descriptor has millions of referrers, and a client may read some types only.
ALTER TABLE reference ADD COLUMN resource_type_id smallint;
UPDATE reference r SET resource_type_id = d.resource_type_id FROM document d WHERE d.id = r.document_id;
ALTER TABLE reference ALTER COLUMN resource_type_id SET NOT NULL;

-- The foreign key holds the type to that of the document, for which the index of pages has to be unique.
DROP INDEX document_page;
CREATE UNIQUE INDEX document_page ON document (resource_type_id, id);
ALTER TABLE reference
    DROP CONSTRAINT reference_document_fk,
    ADD CONSTRAINT reference_document_fk FOREIGN KEY (resource_type_id, document_id)
        REFERENCES document (resource_type_id, id) ON DELETE CASCADE;

-- The primary key serves the check at a delete, and the pages of "who refers to this document".
-- The other way round, the keys of few references share an entry of a small index.
DROP INDEX reference_alias;
ALTER TABLE reference
    DROP CONSTRAINT reference_pkey,
    ADD PRIMARY KEY (alias_id, resource_type_id, document_id);

-- Serves the difference at an update, the cascade from document, and "what does this document refer to".
CREATE INDEX reference_document ON reference (document_id);

COMMENT ON COLUMN reference.resource_type_id IS 'The type of the document that refers.';
