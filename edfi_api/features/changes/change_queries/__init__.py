"""Change versions, deletes and key changes; the tables of former versions."""
