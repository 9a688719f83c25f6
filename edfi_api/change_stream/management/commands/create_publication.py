"""`create_publication`: publish the tables of documents for Debezium and other followers by logical replication."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand

from edfi_api.change_stream.publication import TABLES, create_publication


class Command(BaseCommand):
    """See the module."""

    help = "Makes the publication that followers by logical replication subscribe to, or brings it up to date."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("name", nargs="?", default="meadowlark", help="meadowlark, if not said otherwise")

    def handle(self, *, name: str, **options: Any) -> None:
        wal_level = create_publication(name)
        self.stdout.write(f"{name} publishes {', '.join(TABLES)}.")
        if wal_level != "logical":
            self.stdout.write(
                f"Nobody can follow it yet: set wal_level = logical (it is {wal_level}) and restart PostgreSQL."
            )
