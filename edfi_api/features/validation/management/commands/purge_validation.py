"""`manage.py purge_validation`"""

from argparse import ArgumentParser
from typing import Any

from django.utils import timezone

from edfi_api.common.arguments import add_database, add_retention
from edfi_api.common.conf import api_settings
from edfi_api.common.logs import audit
from edfi_api.common.logs.printable import counted
from edfi_api.core.data_stores.data_store_command import DataStoreCommand
from edfi_api.features.validation.purging import DAYS_OF_DELETED, purge


class Command(DataStoreCommand):
    """See the module."""

    help = (
        "Deletes results of validation that were resolved before the retention time, and earlier runs; results about"
        f" deleted documents after {DAYS_OF_DELETED} days."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        add_retention(parser, api_settings.VALIDATION_DAYS)
        add_database(parser, "the database to purge")

    def handle(self, *args: Any, days: int, database: str, **options: Any) -> None:
        purged = purge(timezone.now(), days, database)
        audit.administered("validation purged", results=purged.results, runs=purged.runs, days=days, by="command")
        self.stdout.write(f"{counted(purged.results, 'result')} and {counted(purged.runs, 'run')} purged")
