"""`manage.py create_query_index students.birthDate`"""

from argparse import ArgumentParser
from typing import Any

from edfi_api.common.commands import add_database
from edfi_api.core.data_stores.data_store_command import DataStoreCommand
from edfi_api.core.queries.index_installation import CannotIndex, create, parse_index
from edfi_api.core.served import current_surface


class Command(DataStoreCommand):
    error_texts = {CannotIndex: lambda error: f"{error}."}
    help = (
        "Creates an index for queries with operators, or in an order, on the documents of one resource, while requests "
        "go on. Servers use it after some seconds. Repeated, it does nothing, or goes on after a failure."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "index",
            metavar="RESOURCE.FIELD",
            help="students.birthDate for comparisons and the order, students.lastSurname[prefix] for prefixes, "
            "students.lastSurname,-birthDate for an order by several fields",
        )
        add_database(parser, "the database to create it in; always a primary")

    def handle(self, *args: Any, index: str, database: str, **options: Any) -> None:
        indexes = parse_index(index, current_surface())
        for each in indexes:
            is_new = create(each, index, database)
            self.stdout.write(f"{index}: {each.name} {'is created' if is_new else 'is there'}")
