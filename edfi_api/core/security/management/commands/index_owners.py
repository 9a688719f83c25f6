"""`manage.py index_owners`"""

from argparse import ArgumentParser
from typing import Any

from edfi_api.common.commands import add_database
from edfi_api.core.data_stores.data_store_command import DataStoreCommand
from edfi_api.core.security.strategies import ownership


class Command(DataStoreCommand):
    help = (
        "Builds the index of documents by the client that created them if a claim set in use decides by ownership, and "
        "drops it otherwise, without blocking writers. housekeeping does so once a day."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        add_database(parser, "the database with the documents")

    def handle(self, *args: Any, database: str, **options: Any) -> None:
        self.stdout.write(ownership.synchronize_index(database) or "document_owner: nothing to do")
