-- Of two indexes with the same cost PostgreSQL takes the newer one. In a new database that is analyzed while it has few
-- documents, the check of `reference_document_fk` costs the same by `document_page` as by `document_change_version`, which
-- would read all documents of the resource for each reference until the table is analyzed again. In larger tables the
-- costs differ, so existing ones stay as they are.
DO $$
BEGIN
    IF EXISTS (SELECT FROM document) THEN
        RETURN;
    END IF;
    ALTER TABLE reference DROP CONSTRAINT reference_document_fk;
    DROP INDEX document_page;
    CREATE UNIQUE INDEX document_page ON document (resource_type_id, id);
    COMMENT ON INDEX document_page IS
        'Pages of a collection in the order of creation, by offset or token; scans of the nearest rows for filters; the foreign key of reference.';
    ALTER TABLE reference
        ADD CONSTRAINT reference_document_fk FOREIGN KEY (resource_type_id, document_id)
        REFERENCES document (resource_type_id, id) ON DELETE CASCADE;
END
$$;
