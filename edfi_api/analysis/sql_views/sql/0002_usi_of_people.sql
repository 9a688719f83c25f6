-- The index of 0001 served WHERE is_person alone, too: with statistics of a time before people were stored, the planner
-- read all people by it to find one. Its condition is now one that only the views have.
DROP INDEX document_usi;
CREATE INDEX document_usi ON document ((id::integer)) WHERE is_person AND id > 0;
COMMENT ON INDEX document_usi IS 'A person by the number of the row, which is studentusi and the like in SQL views.';
