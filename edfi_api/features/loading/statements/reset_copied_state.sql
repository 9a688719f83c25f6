-- What a database that is copied file by file must not share with the one that it is copied from: the positions of
-- consumers, the history, and the numbers of changes to come.
DO $$
BEGIN
    TRUNCATE change_consumer, dead_letter, deleted_document, key_change, superseded_document, recent_writer;
    PERFORM setval('change_version', last_value + 1000000) FROM change_version;
END $$
