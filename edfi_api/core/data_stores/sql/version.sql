-- Whether data stores have changed since a process read them is one number. A change waits for the row of another change
-- that has not ended yet, so a process that has read a version has seen every change up to it.
CREATE TABLE data_stores_version (
    id      smallint PRIMARY KEY DEFAULT 1 CHECK (id = 1),
    version bigint NOT NULL
);
INSERT INTO data_stores_version (version) VALUES (1);
