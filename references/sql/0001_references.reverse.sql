DROP TABLE reference;
DROP TABLE alias;
