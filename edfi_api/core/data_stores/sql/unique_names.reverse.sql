DROP TRIGGER data_store_name_is_unique ON data_store;
DROP TRIGGER derivative_type_is_unique ON data_store_derivative;
DROP FUNCTION refuse_name_of_another_data_store();
DROP FUNCTION refuse_type_of_another_derivative();
