-- Identities. The primary key is what makes natural keys unique, across subclasses too: a School and a
-- LocalEducationAgency with one number collide in the id that both have as EducationOrganization.
CREATE TABLE alias (
    referential_id uuid PRIMARY KEY,
    document_id bigint NOT NULL
);

-- Every document and descriptor reference of a body, once per target.
-- The primary key serves "the references of this document" (the difference at an update).
CREATE TABLE reference (
    document_id bigint NOT NULL,
    alias_id uuid NOT NULL,
    PRIMARY KEY (document_id, alias_id)
);

-- Serves the check at a delete, and "who refers to this document".
CREATE INDEX reference_alias ON reference (alias_id);
-- Serves the cascade from document, and "the identities of this document".
CREATE INDEX alias_document ON alias (document_id);

-- None of these is deferrable: a violation answers the statement that caused it, not a later commit.
-- An identity update rewrites the alias in place and the rows that point at it follow.
ALTER TABLE reference
    ADD CONSTRAINT reference_document_fk FOREIGN KEY (document_id) REFERENCES document (id) ON DELETE CASCADE,
    ADD CONSTRAINT reference_alias_fk FOREIGN KEY (alias_id) REFERENCES alias (referential_id)
        ON DELETE RESTRICT ON UPDATE CASCADE;
ALTER TABLE alias
    ADD CONSTRAINT alias_document_fk FOREIGN KEY (document_id) REFERENCES document (id) ON DELETE CASCADE;

COMMENT ON TABLE alias IS 'Identities of documents: own and superclass, hashed from the natural key.';
COMMENT ON TABLE reference IS 'Which document refers to which identity.';
