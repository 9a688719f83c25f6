-- The key of a reference begins with the document that refers. Documents are stored one after the other, so its pages are
-- filled one after the other, and it serves the difference at an update and the cascade of a delete as well. What refers
-- to an identity is found by an index that holds each pair of identity and type once, with a list of rows, where the
-- former key repeated both for each row, on pages that were half full.
ALTER TABLE reference DROP CONSTRAINT reference_pkey,
    ADD CONSTRAINT reference_pkey PRIMARY KEY USING INDEX reference_pair;
COMMENT ON INDEX reference_alias IS 'What refers to an identity, by type: the check of its delete, cascades of its change, and pages of referrers.';

-- The same for the paths of an association, which begin with it.
ALTER TABLE reached_document DROP CONSTRAINT reached_document_document_id_association_id_contact_associa_key,
    ADD CONSTRAINT reached_document_path UNIQUE USING INDEX reached_document_path;
COMMENT ON INDEX reached_document_document IS 'Paths to a document, to remove them with it.';

-- One entry for all documents of a client and a resource, with a list of rows. `document_owner`, in the order of creation
-- with ten times the bytes, is built when claim sets decide by ownership (edfi_api/core/security/policies/owner_index.py).
COMMENT ON INDEX document_creator IS 'Documents of the client that created them, in any order.';
