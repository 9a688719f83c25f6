"""`manage.py list_query_indexes`"""

from argparse import ArgumentParser
from typing import Any

from edfi_api.common.commands import add_database
from edfi_api.core.data_stores.data_store_command import DataStoreCommand
from edfi_api.core.queries.index_installation import installed


class Command(DataStoreCommand):
    help = "Lists the indexes that create_query_index has created, with their sizes."

    def add_arguments(self, parser: ArgumentParser) -> None:
        add_database(parser, "the database that has them")

    def handle(self, *args: Any, database: str, **options: Any) -> None:
        for each in installed(database):
            state = "" if each.is_valid and each.definition else " (its creation was interrupted)"
            self.stdout.write(f"{each.definition or '?'}: {each.name}, {each.size / 2**20:.1f} MB{state}")
