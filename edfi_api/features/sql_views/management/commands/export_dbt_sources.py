"""`manage.py export_dbt_sources --output models/sources.yml`"""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError

from edfi_api.common.arguments import add_database, path
from edfi_api.core.data_stores.data_store_command import DataStoreCommand
from edfi_api.features.sql_views.command_errors import ERRORS_OF_SQL_VIEWS
from edfi_api.features.sql_views.current import current_views
from edfi_api.features.sql_views.dbt import sources


class Command(DataStoreCommand):
    error_texts = ERRORS_OF_SQL_VIEWS
    takes_several = False
    help = "Writes the SQL views as sources of dbt, with their documentation; --output sources.yml, or printed."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--output", type=path, metavar="FILE", help="default: standard output")
        add_database(parser, "the database that has the views")

    def handle(self, *args: Any, output: Path | None, database: str, **options: Any) -> None:
        text = sources(current_views(database).views)
        if output is None:
            self.stdout.write(text, ending="")
            return
        try:
            output.write_text(text)
        except OSError as error:
            raise CommandError(f"{output}: {error.strerror}") from error
