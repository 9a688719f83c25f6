-- Serves "the documents of this client", in insertion order, to those who may see no others.
CREATE INDEX document_owner ON document (created_by, resource_type_id, id) WHERE created_by IS NOT NULL;
