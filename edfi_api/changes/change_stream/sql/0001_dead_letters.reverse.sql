DROP TABLE dead_letter;
