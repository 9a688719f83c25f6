DROP TRIGGER revision ON data_store_derivative;
DROP TRIGGER revision ON data_store;
DROP FUNCTION count_up_revision();
DROP TRIGGER data_stores_version ON data_store_derivative;
DROP TRIGGER data_stores_version ON data_store_context;
DROP TRIGGER data_stores_version ON data_store;
DROP TRIGGER data_stores_version ON tenant;
DROP FUNCTION count_up_data_stores_version();
DROP TABLE data_stores_version;
