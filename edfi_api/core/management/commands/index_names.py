"""`manage.py index_names`"""

from argparse import ArgumentParser
from typing import Any

from edfi_api.common.commands import add_database
from edfi_api.core.data_stores.data_store_command import DataStoreCommand
from edfi_api.core.queries import name_index


class Command(DataStoreCommand):
    help = (
        "Builds the index by which the search of the admin finds names, if it is not there, without blocking writers. "
        "migrate does so at its end, and housekeeping once a day."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        add_database(parser, "the database with the documents")

    def handle(self, *args: Any, database: str, **options: Any) -> None:
        self.stdout.write(name_index.synchronize(database) or "index of names: nothing to do")
