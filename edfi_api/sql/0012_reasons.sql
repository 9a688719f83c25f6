-- What each index and trigger is for; `tests/storage/test_reasons.py` has a query for each index.
COMMENT ON INDEX document_page IS 'Pages of a collection in the order of creation; the foreign key of reference.';
COMMENT ON INDEX document_scoped_body IS 'Query by example: values in the bodies of one resource.';
COMMENT ON INDEX document_change_version IS 'minChangeVersion and maxChangeVersion; the stream of changes.';
COMMENT ON INDEX document_organization IS 'Documents of organizations, each organization''s in the order of creation.';
COMMENT ON INDEX document_namespace IS 'Documents of namespaces, each namespace''s in the order of creation.';
COMMENT ON INDEX document_owner IS 'Documents of the client that created them, in the order of creation.';
COMMENT ON INDEX document_student IS 'Whether a student is in one of these organizations; documents about a student.';
COMMENT ON INDEX document_contact IS 'Whether a contact is reached through these students; documents about a contact.';
COMMENT ON INDEX document_staff IS 'Whether staff is in one of these organizations; documents about staff.';
COMMENT ON INDEX document_person IS 'The document of a person, to lock it while paths to the person change.';
COMMENT ON INDEX document_of_organization IS 'The document of an education organization by its id.';
COMMENT ON INDEX organization_closure_upwards IS 'The organizations above one: inverted strategies, changes of the hierarchy.';
COMMENT ON INDEX reached_document_page IS 'Documents that organizations reach, each organization''s in the order of creation.';
COMMENT ON INDEX reached_document_association IS 'Paths over an association, to remove them with it.';
COMMENT ON INDEX reached_document_contact_association IS 'Paths over an association with a contact, to remove them with it.';

COMMENT ON TRIGGER document_joins_hierarchy ON document IS 'Keeps organization_closure when an organization is created.';
COMMENT ON TRIGGER document_moves_in_hierarchy ON document IS 'Keeps organization_closure when an organization moves.';
COMMENT ON TRIGGER document_leaves_hierarchy ON document IS 'Keeps organization_closure when an organization is deleted.';
COMMENT ON TRIGGER document_joins_paths ON document IS 'Adds the paths of new documents to reached_document.';
COMMENT ON TRIGGER document_moves_between_paths ON document IS 'Keeps reached_document when people or organizations of a document change.';
COMMENT ON TRIGGER document_leaves_paths ON document IS 'Removes the paths of a deleted document from reached_document.';
COMMENT ON TRIGGER document_of_person_leaves_paths ON document IS 'Removes the rows of a deleted person from reached_document.';
COMMENT ON TRIGGER documents_leave_paths ON document IS 'Empties reached_document at TRUNCATE, which fires no triggers of rows.';
