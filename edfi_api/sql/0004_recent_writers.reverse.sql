DROP TABLE recent_writer;
