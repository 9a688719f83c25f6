DROP STATISTICS document_kinds;
DROP INDEX document_usi;
DROP TABLE sql_view;
