DROP INDEX superseded_document_uuid;
