-- Identities of documents, and references to them. No foreign key is deferrable: a violation answers the statement that
-- caused it, not a later commit.

-- The primary key is what makes natural keys unique, across subclasses too: a School and a LocalEducationAgency with one
-- number collide in the id that both have as EducationOrganization.
CREATE TABLE alias (
    referential_id uuid PRIMARY KEY,
    document_id bigint NOT NULL CONSTRAINT alias_document_fk REFERENCES document (id) ON DELETE CASCADE
);
COMMENT ON TABLE alias IS 'Identities of documents: own and superclass, hashed from the natural key.';

CREATE INDEX alias_document ON alias (document_id);
COMMENT ON INDEX alias_document IS 'The identities of a document; the cascade of its delete.';

-- Every document and descriptor reference of a body, once per target. A change of an identity rewrites the alias in
-- place, and the rows that refer to it follow. With the type of the referrer in the key, what refers to a document is
-- read type by type in order of creation, one page at a time: a school or a descriptor has millions of referrers, and a
-- client may read some types only.
CREATE TABLE reference (
    document_id bigint NOT NULL,
    alias_id uuid NOT NULL
        CONSTRAINT reference_alias_fk REFERENCES alias (referential_id) ON DELETE RESTRICT ON UPDATE CASCADE,
    resource_type_id smallint NOT NULL,
    PRIMARY KEY (alias_id, resource_type_id, document_id),
    CONSTRAINT reference_document_fk
        FOREIGN KEY (resource_type_id, document_id) REFERENCES document (resource_type_id, id) ON DELETE CASCADE
);
COMMENT ON TABLE reference IS 'Which document refers to which identity.';
COMMENT ON COLUMN reference.resource_type_id IS 'The type of the document that refers.';

CREATE INDEX reference_document ON reference (document_id);
COMMENT ON INDEX reference_document IS 'What a document refers to: the difference at an update, the cascade of its delete.';
