-- What each index and trigger is for; `tests/storage/test_reasons.py` has a query for each index.
COMMENT ON INDEX superseded_document_to_purge IS 'Versions older than a day, for the purge; rows come in this order.';
COMMENT ON INDEX deleted_document_version IS 'Deletes of a resource in the order of changes: /deletes, the stream.';
COMMENT ON INDEX deleted_document_last_version IS 'Last versions of deleted documents in the order of changes: the stream.';
COMMENT ON INDEX deleted_document_student IS 'Whether a student ever was in one of these organizations.';
COMMENT ON INDEX deleted_document_staff IS 'Whether staff ever was in one of these organizations.';
COMMENT ON INDEX deleted_document_contact IS 'Whether a contact ever was reached through these students.';
COMMENT ON INDEX key_change_student IS 'Whether a student ever was in one of these organizations.';
COMMENT ON INDEX key_change_staff IS 'Whether staff ever was in one of these organizations.';
COMMENT ON INDEX key_change_contact IS 'Whether a contact ever was reached through these students.';
COMMENT ON INDEX deleted_document_to_purge IS 'Bodies of documents deleted before a day, for the purge.';
COMMENT ON INDEX deleted_document_uuid IS 'What became of a document.';
COMMENT ON INDEX deleted_document_client IS 'What a client deleted, the latest first: the admin.';
COMMENT ON INDEX deleted_document_day IS 'What was deleted on these days: the admin; rows come in this order.';
COMMENT ON INDEX deleted_document_key IS 'Deleted documents by whole values of their keys: the search of the admin.';

COMMENT ON TRIGGER document_is_superseded ON document IS 'Keeps the version that an update replaces, and gives the document a new one.';
COMMENT ON TRIGGER document_is_deleted ON document IS 'Keeps what a delete removes.';
