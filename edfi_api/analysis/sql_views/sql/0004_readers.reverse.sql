DROP TABLE sql_reader;
