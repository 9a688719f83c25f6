DROP INDEX document_student;
CREATE INDEX document_student ON document (student, resource_type_id, organization, id)
    WHERE student IS NOT NULL AND (organization IS NULL OR opens_pathway);
COMMENT ON INDEX document_student IS 'Whether a student is in one of these organizations; documents about a student that have no organization, such as students filtered by studentUniqueId.';
