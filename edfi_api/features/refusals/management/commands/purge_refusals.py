"""`manage.py purge_refusals`"""

from argparse import ArgumentParser
from datetime import timedelta
from typing import Any

from django.core.management.base import BaseCommand
from django.db import DEFAULT_DB_ALIAS
from django.utils import timezone

from edfi_api.common.arguments import add_retention
from edfi_api.common.conf import api_settings
from edfi_api.common.logs import audit
from edfi_api.common.logs.printable import counted
from edfi_api.features.refusals.purging import purge


class Command(BaseCommand):
    help = (
        "Deletes refusals that occurred last before the retention time, resolved or not. Open ones that no write can "
        "resolve, because nothing identifies their document, are closed after seven days."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        add_retention(parser, api_settings.REFUSAL_DAYS)

    def handle(self, *args: Any, days: int, **options: Any) -> None:
        purged, aged = purge(timezone.now() - timedelta(days=days), DEFAULT_DB_ALIAS)
        audit.administered("refusals purged", refusals=purged, aged=aged, days=days, by="command")
        self.stdout.write(f"{counted(purged, 'refusal')} purged, {aged} closed as aged")
