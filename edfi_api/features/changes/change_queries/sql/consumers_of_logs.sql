-- A consumer belongs to a log: of documents, or of another one. A name may be given once in each.
ALTER TABLE change_consumer ADD COLUMN log text NOT NULL DEFAULT 'documents';
ALTER TABLE change_consumer DROP CONSTRAINT change_consumer_pkey;
ALTER TABLE change_consumer ADD COLUMN id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY;
ALTER TABLE change_consumer ADD UNIQUE (log, name);
COMMENT ON TABLE change_consumer IS 'Up to which change version each consumer has read a log of the change stream.';
COMMENT ON COLUMN change_consumer.log IS 'Whose events it reads; what a consumer of documents has not read is not purged.';
