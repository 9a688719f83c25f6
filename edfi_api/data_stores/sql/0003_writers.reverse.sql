DROP TRIGGER writer_is_noted ON data_store_derivative;
DROP TRIGGER writer_is_noted ON data_store_context;
DROP TRIGGER writer_is_noted ON data_store;
DROP TRIGGER writer_is_noted ON tenant;
DROP FUNCTION note_writer();
