-- Three changes of the index of 0002. Its condition ends where integer does: a person whose row has a higher number could
-- not be written before. It is unique, which makes the planner expect one person for a number instead of one in two
-- hundred: it uses no statistics of an expression for an index with a condition. And it has the columns by which people
-- are joined, so the index alone serves the join.
DROP INDEX document_usi;
CREATE UNIQUE INDEX document_usi ON document ((id::integer)) INCLUDE (id, resource_type_id, student, contact, staff)
    WHERE is_person AND id BETWEEN 1 AND 2147483647;
COMMENT ON INDEX document_usi IS 'A person by the number of the row, which is studentusi and the like in SQL views.';
