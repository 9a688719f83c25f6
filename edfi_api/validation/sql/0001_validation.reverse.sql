DROP FUNCTION documents;
DROP FUNCTION resource_type_number;
DROP TABLE staged_violation;
DROP TABLE validation_result;
DROP SEQUENCE validation_version;
DROP TABLE validation_run_rule;
DROP TABLE validation_run;
DROP TABLE validation_rule;
