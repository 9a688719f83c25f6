DROP INDEX validation_result_resolved_run;
DROP INDEX validation_result_first_run;
DROP TABLE validation_consumer;
