DROP TRIGGER result_is_added ON validation_result;
DROP TRIGGER result_is_changed ON validation_result;
DROP TRIGGER result_is_removed ON validation_result;
DROP FUNCTION count_open_validation_results;
DROP TABLE open_validation_results;
