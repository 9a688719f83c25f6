DROP INDEX document_owner;
