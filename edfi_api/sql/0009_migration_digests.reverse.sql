DROP TABLE migration_digest;
