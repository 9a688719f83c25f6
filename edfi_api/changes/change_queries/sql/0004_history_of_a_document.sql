CREATE INDEX superseded_document_uuid ON superseded_document (document_uuid, change_version);
COMMENT ON INDEX superseded_document_uuid IS 'The former versions of a document: its history.';
