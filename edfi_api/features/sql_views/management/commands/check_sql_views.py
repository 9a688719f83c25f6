"""`manage.py check_sql_views`"""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError

from edfi_api.common.commands import add_database
from edfi_api.common.logs.printable import counted
from edfi_api.core.data_stores.data_store_command import DataStoreCommand
from edfi_api.features.sql_views.catalog import view_problems
from edfi_api.features.sql_views.current import ERRORS_OF_SQL_VIEWS, current_views


class Command(DataStoreCommand):
    error_texts = ERRORS_OF_SQL_VIEWS
    help = (
        "Compares the columns of each view with the model, and reads all rows of all views, which takes as long as "
        "reading every document several times."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        add_database(parser, "the database that has them")

    def handle(self, *args: Any, database: str, **options: Any) -> None:
        views = current_views(database).views
        problems = list(view_problems(views, database))
        for problem in problems:
            self.stderr.write(problem)
        if problems:
            found = counted(len(problems), "problem")
            raise CommandError(f"{found}; create_sql_views brings the views in line with the model")
        self.stdout.write(f"{len(views)} views are as the model says, and can be read")
