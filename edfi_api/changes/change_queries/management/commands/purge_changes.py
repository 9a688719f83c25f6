"""`manage.py purge_changes`"""

from argparse import ArgumentParser
from datetime import timedelta
from typing import Any

from django.utils import timezone

from edfi_api.changes.change_queries.purging import purge
from edfi_api.conf import api_settings
from edfi_api.logs import audit
from edfi_api.management.arguments import add_database, whole_number
from edfi_api.management.data_store_command import DataStoreCommand

_MOST_DAYS = 36_500


class Command(DataStoreCommand):
    help = (
        "Deletes superseded versions and the bodies of deleted documents after the retention time, once every consumer "
        "of the change stream has received them. The deletes themselves stay."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        kept = api_settings.CHANGE_RETENTION_DAYS
        parser.add_argument(
            "--days",
            type=whole_number(0, _MOST_DAYS),
            default=str(kept),  # A string, so that argparse validates the setting like the argument.
            help=f"the retention time in days (default {kept})",
        )
        add_database(parser, "the database to purge")

    def handle(self, *args: Any, days: int, database: str, **options: Any) -> None:
        purged = purge(timezone.now() - timedelta(days=days), database)
        audit.administered(
            "changes purged", superseded=purged.superseded, bodies=purged.bodies, days=days, by="command"
        )
        self.stdout.write(
            f"{purged.superseded} superseded version(s) and the bodies of {purged.bodies} deleted document(s) purged"
        )
        if purged.slowest:
            consumer = purged.slowest
            self.stdout.write(f"kept: everything behind version {consumer.change_version}, for {consumer.name}")
