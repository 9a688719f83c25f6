DROP TABLE sql_copy;
