DROP TABLE validation_request;
