"""`manage.py purge_changes`"""

from argparse import ArgumentParser
from datetime import timedelta
from typing import Any

from django.utils import timezone

from edfi_api.common.arguments import add_database, add_retention
from edfi_api.common.conf import api_settings
from edfi_api.common.logs import audit
from edfi_api.common.logs.printable import counted
from edfi_api.core.data_stores.data_store_command import DataStoreCommand
from edfi_api.features.changes.change_queries.purging import purge


class Command(DataStoreCommand):
    help = (
        "Deletes superseded versions and the bodies of deleted documents after the retention time, once every consumer "
        "of the change stream has received them. The deletes themselves stay."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        add_retention(parser, api_settings.CHANGE_RETENTION_DAYS)
        add_database(parser, "the database to purge")

    def handle(self, *args: Any, days: int, database: str, **options: Any) -> None:
        purged = purge(timezone.now() - timedelta(days=days), database)
        audit.administered(
            "changes purged", superseded=purged.superseded, bodies=purged.bodies, days=days, by="command"
        )
        self.stdout.write(
            f"{counted(purged.superseded, 'superseded version')} and the bodies of "
            f"{counted(purged.bodies, 'deleted document')} purged"
        )
        if purged.slowest:
            consumer = purged.slowest
            self.stdout.write(f"kept: everything behind version {consumer.change_version}, for {consumer.name}")
