"""`manage.py purge_refusals`"""

from argparse import ArgumentParser
from datetime import timedelta
from typing import Any

from django.core.management.base import BaseCommand
from django.db import DEFAULT_DB_ALIAS
from django.utils import timezone

from edfi_api.conf import api_settings
from edfi_api.logs import audit
from edfi_api.management.arguments import whole_number
from edfi_api.refusals.purging import purge

_MOST_DAYS = 36_500


class Command(BaseCommand):
    help = (
        "Deletes refusals that occurred last before the retention time, resolved or not. Open ones that no write can "
        "resolve, because nothing identifies their document, are closed after seven days."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        kept = api_settings.REFUSAL_DAYS
        parser.add_argument(
            "--days",
            type=whole_number(0, _MOST_DAYS),
            default=str(kept),  # A string, so that argparse validates the setting like the argument.
            help=f"the retention time in days (default {kept})",
        )

    def handle(self, *args: Any, days: int, **options: Any) -> None:
        purged, aged = purge(timezone.now() - timedelta(days=days), DEFAULT_DB_ALIAS)
        audit.administered("refusals purged", refusals=purged, aged=aged, days=days, by="command")
        self.stdout.write(f"{purged} refusal(s) purged, {aged} closed as aged")
