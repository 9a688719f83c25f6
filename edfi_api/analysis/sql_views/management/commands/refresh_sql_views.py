"""`manage.py refresh_sql_views --every 60`"""

import time
from argparse import ArgumentParser
from contextlib import suppress
from typing import Any

from django.core.management.base import CommandError
from django.db import close_old_connections
from django.db.utils import InterfaceError, OperationalError

from edfi_api.analysis.sql_views.changes import ViewsNotInstalled
from edfi_api.analysis.sql_views.command_errors import as_command_errors
from edfi_api.analysis.sql_views.refreshing import refresh
from edfi_api.management.arguments import add_database, seconds
from edfi_api.management.data_store_command import DataStoreCommand


class Command(DataStoreCommand):
    """See the module."""

    help = (
        "Brings the tables of views that create_sql_views --copy has made up to date, all to the same moment, in one"
        " transaction: the rows of documents that have changed are replaced."
    )

    def execute(self, *args: Any, **options: Any) -> str | None:
        is_for_several = options.get("all_data_stores") or len(options.get("data_store") or ()) > 1
        if options.get("every") is not None and is_for_several:
            raise CommandError("--every takes one data store: run a process for each, or all by cron without it")
        return super().execute(*args, **options)

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--every",
            type=seconds,
            metavar="SECONDS",
            help="repeat it, with this pause; what fails is tried again",
        )
        add_database(parser, "the database that has them")

    def handle(self, *args: Any, database: str, every: float | None, **options: Any) -> None:
        if every is None:
            with as_command_errors():
                self.stdout.write(str(refresh(database)))
            return
        with suppress(KeyboardInterrupt):
            while True:
                self._refresh(database)
                time.sleep(every)

    def _refresh(self, database: str) -> None:
        """Say what was done, or why it was not."""
        try:
            self.stdout.write(str(refresh(database)))
        except (ViewsNotInstalled, OperationalError, InterfaceError) as error:
            self.stderr.write(f"not refreshed: {'; '.join(map(str, error.args)).strip()}")
            close_old_connections()
