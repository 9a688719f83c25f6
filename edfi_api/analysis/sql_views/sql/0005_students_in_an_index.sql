-- With opens_pathway in it, SQL views count enrollments and join them with students in the index alone. (Not as the
-- condition of the index, "organization IS NULL OR opens_pathway": for that the planner has no statistics, and expects a
-- tenth of the enrollments.) The index has entries of such associations and of documents without organization only.
DROP INDEX document_student;
CREATE INDEX document_student ON document (student, resource_type_id, organization, id) INCLUDE (opens_pathway)
    WHERE student IS NOT NULL AND (organization IS NULL OR opens_pathway);
COMMENT ON INDEX document_student IS 'Whether a student is in one of these organizations; documents about a student that have no organization, such as students filtered by studentUniqueId. With opens_pathway, SQL views count enrollments in it.';
