-- Results are written by runs, never by requests, so these cost no request anything.
CREATE INDEX validation_result_page ON validation_result (id) WHERE resolved_at IS NULL;
CREATE INDEX validation_result_student ON validation_result (student) WHERE student IS NOT NULL;
CREATE INDEX validation_result_staff ON validation_result (staff) WHERE staff IS NOT NULL;
-- A natural key may be longer than what fits into an entry of a B-tree.
CREATE INDEX validation_result_natural_key ON validation_result USING hash (natural_key);

COMMENT ON INDEX validation_result_page IS 'Pages of open results: /validation/v1, the admin.';
COMMENT ON INDEX validation_result_student IS 'Results about a student: /validation/v1, the search of the admin.';
COMMENT ON INDEX validation_result_staff IS 'Results about a staff member: /validation/v1, the search of the admin.';
COMMENT ON INDEX validation_result_natural_key IS 'Results about a document by its key: /validation/v1, the search of the admin.';
