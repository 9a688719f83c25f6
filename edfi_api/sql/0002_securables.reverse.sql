-- The indexes go with the columns.
ALTER TABLE document
    DROP COLUMN organization,
    DROP COLUMN student,
    DROP COLUMN contact,
    DROP COLUMN staff,
    DROP COLUMN namespace,
    DROP COLUMN hierarchy,
    DROP COLUMN opens_pathway;
