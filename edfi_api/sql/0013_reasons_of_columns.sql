-- The queries of indexes that filters use since query fields are compared with columns (queries/securable_columns.py).
COMMENT ON INDEX document_organization IS 'Pages and totals of a collection filtered by its organization, such as schoolId; pages of clients authorized by organizations; each organization''s documents are in the order of creation.';
COMMENT ON INDEX document_namespace IS 'Pages and totals of a collection filtered by its namespace; pages of clients authorized by namespace prefixes; each namespace''s documents are in the order of creation.';
COMMENT ON INDEX document_student IS 'Whether a student is in one of these organizations; documents about a student that have no organization, such as students filtered by studentUniqueId.';
COMMENT ON INDEX document_contact IS 'Whether a contact is reached through these students; documents about a contact, also filtered by contactUniqueId.';
COMMENT ON INDEX document_staff IS 'Whether staff is in one of these organizations; documents about staff that have no organization, such as staffs filtered by staffUniqueId.';
COMMENT ON INDEX document_page IS 'Pages of a collection in the order of creation, by offset or token; scans of the nearest rows for filters; the foreign key of reference.';
COMMENT ON INDEX document_of_organization IS 'The document of an education organization by its id, to keep organization_closure.';
