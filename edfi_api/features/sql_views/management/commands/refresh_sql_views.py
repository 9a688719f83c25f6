"""`manage.py refresh_sql_views`"""

from argparse import ArgumentParser
from typing import Any

from edfi_api.common.commands import add_database
from edfi_api.core.data_stores.data_store_command import DataStoreCommand
from edfi_api.features.sql_views.current import ERRORS_OF_SQL_VIEWS
from edfi_api.features.sql_views.refreshing import refresh


class Command(DataStoreCommand):
    """See the module."""

    error_texts = ERRORS_OF_SQL_VIEWS
    help = (
        "Brings the tables of views that create_sql_views --copy has made up to date, all to the same state, in one"
        " transaction: the rows of documents that have changed are replaced."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        add_database(parser, "the database that has them")

    def handle(self, *args: Any, database: str, **options: Any) -> None:
        self.stdout.write(str(refresh(database)))
