"""The publication for logical replication: the tables from which other systems can follow the documents."""

from django.db import DEFAULT_DB_ALIAS, connections
from psycopg import sql

# README.md in this folder describes the rows.
TABLES = ("resource_type", "document", "alias", "reference", "deleted_document", "key_change", "organization_closure")


def create_publication(name: str, using: str = DEFAULT_DB_ALIAS) -> str:
    """Create the publication, or set the tables of an existing one. Returns the server's `wal_level`, which must be
    `logical` for subscribers."""
    tables = sql.SQL(", ").join(map(sql.Identifier, TABLES))
    with connections[using].cursor() as cursor:
        exists = cursor.execute("SELECT EXISTS (SELECT FROM pg_publication WHERE pubname = %s)", [name]).fetchone()[0]
        form = "ALTER PUBLICATION {} SET TABLE {}" if exists else "CREATE PUBLICATION {} FOR TABLE {}"
        cursor.execute(sql.SQL(form).format(sql.Identifier(name), tables))
        return str(cursor.execute("SHOW wal_level").fetchone()[0])
