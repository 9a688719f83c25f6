"""`create_publication`: publish the tables of documents for Debezium and other subscribers of logical replication."""

from argparse import ArgumentParser, ArgumentTypeError
from typing import Any

from django.db import DEFAULT_DB_ALIAS, connections
from psycopg import sql

from edfi_api.common.commands import name
from edfi_api.core.data_stores.data_store_command import DataStoreCommand

_LONGEST_IDENTIFIER = 63

# README.md in this folder describes the rows.
TABLES = ("resource_type", "document", "alias", "reference", "deleted_document", "key_change", "organization_closure")


class Command(DataStoreCommand):
    """See the module."""

    help = "Creates the publication for subscribers of logical replication, or updates its tables."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "name",
            type=_identifier,
            nargs="?",
            default="meadowlark",
            help="the name of the publication (default meadowlark)",
        )

    def handle(self, **options: Any) -> None:
        wal_level = create_publication(options["name"], options["database"])
        self.stdout.write(f"{options['name']} publishes {', '.join(TABLES)}.")
        if wal_level != "logical":
            self.stdout.write(
                f"It cannot be used yet: set wal_level = logical (it is {wal_level}) and restart PostgreSQL."
            )


def _identifier(given: str) -> str:
    """PostgreSQL truncates longer names."""
    if len(given.encode(errors="replace")) > _LONGEST_IDENTIFIER:
        raise ArgumentTypeError(f"it is longer than {_LONGEST_IDENTIFIER} bytes")
    return name(given)


def create_publication(name: str, using: str = DEFAULT_DB_ALIAS) -> str:
    """Create the publication, or set the tables of an existing one. Returns the server's `wal_level`, which must be
    `logical` for subscribers."""
    tables = sql.SQL(", ").join(map(sql.Identifier, TABLES))
    with connections[using].cursor() as cursor:
        exists = cursor.execute("SELECT EXISTS (SELECT FROM pg_publication WHERE pubname = %s)", [name]).fetchone()[0]
        form = "ALTER PUBLICATION {} SET TABLE {}" if exists else "CREATE PUBLICATION {} FOR TABLE {}"
        cursor.execute(sql.SQL(form).format(sql.Identifier(name), tables))
        return str(cursor.execute("SHOW wal_level").fetchone()[0])
