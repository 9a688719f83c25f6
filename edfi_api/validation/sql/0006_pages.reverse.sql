DROP INDEX validation_result_natural_key;
DROP INDEX validation_result_staff;
DROP INDEX validation_result_student;
DROP INDEX validation_result_page;
