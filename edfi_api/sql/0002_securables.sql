-- What decides who may see a document: facts of its body, written with it. NULL where the resource has none.
ALTER TABLE document
    ADD COLUMN organization bigint,
    ADD COLUMN student text,
    ADD COLUMN contact text,
    ADD COLUMN staff text,
    ADD COLUMN namespace text,
    ADD COLUMN hierarchy bigint[],
    ADD COLUMN opens_pathway boolean;

-- Serves "the documents of these organizations", each organization's in insertion order. The people stand in it, so that
-- totals of what organizations and people decide about need not read the documents: 0.3 instead of 1.6 seconds for half
-- a million.
CREATE INDEX document_organization ON document (resource_type_id, organization, id) INCLUDE (student, contact, staff)
    WHERE organization IS NOT NULL;

-- Serve "is this person in one of these organizations" (the organizations stand in the index) and "the documents of
-- this person" where they have no organization to go by. What most documents are, those of a person in an organization,
-- is found by the organization and does not cost an entry here.
CREATE INDEX document_student ON document (student, resource_type_id, organization, id)
    WHERE student IS NOT NULL AND (organization IS NULL OR opens_pathway);
CREATE INDEX document_staff ON document (staff, resource_type_id, organization, id)
    WHERE staff IS NOT NULL AND (organization IS NULL OR opens_pathway);
-- Contacts are found through students, never through an organization of their own.
CREATE INDEX document_contact ON document (contact, resource_type_id, student, id) WHERE contact IS NOT NULL;

-- Serves "the documents whose namespace begins so", each namespace's in insertion order.
CREATE INDEX document_namespace ON document (resource_type_id, namespace, id) WHERE namespace IS NOT NULL;

COMMENT ON COLUMN document.organization IS 'Education organization that the document belongs to.';
COMMENT ON COLUMN document.student IS 'studentUniqueId of the student whom the document is about.';
COMMENT ON COLUMN document.contact IS 'contactUniqueId or parentUniqueId of the contact whom the document is about.';
COMMENT ON COLUMN document.staff IS 'staffUniqueId of the staff member whom the document is about.';
COMMENT ON COLUMN document.namespace IS 'Namespace that the document belongs to.';
COMMENT ON COLUMN document.hierarchy IS 'Of an education organization: its id, then those of the ones directly above.';
COMMENT ON COLUMN document.opens_pathway IS 'True for associations that bring people under organizations.';
