DROP INDEX document_usi;
CREATE INDEX document_usi ON document ((id::integer)) WHERE is_person AND id > 0;
COMMENT ON INDEX document_usi IS 'A person by the number of the row, which is studentusi and the like in SQL views.';
