ALTER TABLE reference
    DROP CONSTRAINT reference_document_fk,
    DROP CONSTRAINT reference_pkey,
    ADD PRIMARY KEY (document_id, alias_id),
    ADD CONSTRAINT reference_document_fk FOREIGN KEY (document_id) REFERENCES document (id) ON DELETE CASCADE;
DROP INDEX reference_document;
CREATE INDEX reference_alias ON reference (alias_id);
ALTER TABLE reference DROP COLUMN resource_type_id;
DROP INDEX document_page;
CREATE INDEX document_page ON document (resource_type_id, id);
