DROP TRIGGER document_joins_paths ON document;
DROP TRIGGER document_leaves_paths ON document;
DROP TRIGGER document_moves_1_leaves_paths ON document;
DROP TRIGGER document_moves_2_joins_paths ON document;
DROP TRIGGER documents_leave_paths ON document;
DROP FUNCTION documents_leave_paths;
DROP FUNCTION document_joins_paths;
DROP FUNCTION document_leaves_paths;
DROP VIEW authorization_path;
DROP VIEW student_path;
DROP VIEW contact_path;
DROP VIEW staff_path;
DROP TABLE reached_document;
-- Its index goes with the column.
ALTER TABLE document DROP COLUMN is_person;
