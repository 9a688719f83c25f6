"""`manage.py drop_query_index students.birthDate`"""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError

from edfi_api.common.commands import add_database
from edfi_api.core.data_stores.data_store_command import DataStoreCommand
from edfi_api.core.queries.index_installation import drop, installed


class Command(DataStoreCommand):
    help = "Drops an index that create_query_index has created, while requests go on."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "index", metavar="INDEX", help="its definition or its name, as list_query_indexes shows them"
        )
        add_database(parser, "the database that has it")

    def handle(self, *args: Any, index: str, database: str, **options: Any) -> None:
        found = [each for each in installed(database) if index in (each.definition, each.name)]
        if not found:
            raise CommandError(f"There is no index {index}; list_query_indexes shows those that there are.")
        for each in found:
            drop(each.name, database)
            self.stdout.write(f"{index}: {each.name} is dropped")
