"""`create_publication`: publish the tables of documents for Debezium and other subscribers of logical replication."""

from argparse import ArgumentParser, ArgumentTypeError
from typing import Any

from edfi_api.common.arguments import name
from edfi_api.core.data_stores.data_store_command import DataStoreCommand
from edfi_api.features.changes.change_stream.publication import TABLES, create_publication

_LONGEST_IDENTIFIER = 63


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
