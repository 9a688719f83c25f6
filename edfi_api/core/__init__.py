"""The core: documents with their references in PostgreSQL, who may read and write them, and queries."""
