"""`manage.py drop_sql_views`"""

from argparse import ArgumentParser
from typing import Any

from edfi_api.common.commands import add_database, name
from edfi_api.common.logs.printable import counted
from edfi_api.core.data_stores.data_store_command import DataStoreCommand
from edfi_api.core.served import current_surface
from edfi_api.features.sql_views import indexes
from edfi_api.features.sql_views.current import ERRORS_OF_SQL_VIEWS
from edfi_api.features.sql_views.installation import Installation
from edfi_api.features.sql_views.row_filter import RowFilter


class Command(DataStoreCommand):
    error_texts = ERRORS_OF_SQL_VIEWS
    help = (
        "Drops the views, functions, schemas, copies and indexes that create_sql_views has created, and nothing else."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--schema", type=name, action="append", metavar="SCHEMA", help="only this schema; repeatable (default: all)"
        )
        parser.add_argument("--dry-run", action="store_true", help="print what would be dropped, and change nothing")
        parser.add_argument(
            "--drop-dependents", action="store_true", help="drop what others have built on the views, too"
        )
        add_database(parser, "the database that has them")

    def handle(
        self, *args: Any, database: str, schema: list[str] | None, dry_run: bool, drop_dependents: bool, **options: Any
    ) -> None:
        schemas = None if schema is None else frozenset(schema)
        rows = RowFilter(current_surface(), False if schemas is None else None)
        changes = Installation(database, schemas, drops_dependents=drop_dependents, row_filter=rows).drop(
            is_dry_run=dry_run
        )
        dropped = [*indexes.statements(database, []), *indexes.of_people(database, are_viewed=False)]
        for statement in dropped if schemas is None else ():
            self.stdout.write(f"{statement};")
            if not dry_run:
                indexes.execute(database, statement)
        self.stdout.write(f"{counted(len(changes.dropped), 'object')} {'would be ' if dry_run else ''}dropped")
