DELETE FROM change_consumer WHERE log <> 'documents';
ALTER TABLE change_consumer DROP CONSTRAINT change_consumer_log_name_key;
ALTER TABLE change_consumer DROP COLUMN id;
ALTER TABLE change_consumer DROP COLUMN log;
ALTER TABLE change_consumer ADD PRIMARY KEY (name);
