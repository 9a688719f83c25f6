"""`manage.py purge_tables`"""

from argparse import ArgumentParser
from datetime import timedelta
from typing import Any

from django.core.management.base import BaseCommand
from django.utils import timezone

from edfi_api.common.commands import add_retention
from edfi_api.common.conf import api_settings
from edfi_api.common.logs import audit
from edfi_api.common.logs.printable import counted
from edfi_api.features.tables.jobs import forget_old_contents
from edfi_api.features.tables.models import TableLoad


class Command(BaseCommand):
    help = (
        "Deletes uploaded tables and the reports of their rows that are older than the retention time, and the "
        "contents of those that were uploaded more than a day ago."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        add_retention(parser, api_settings.TABLE_DAYS)

    def handle(self, *args: Any, days: int, **options: Any) -> None:
        contents = forget_old_contents()
        _, by_model = TableLoad.objects.filter(created_at__lt=timezone.now() - timedelta(days=days)).delete()
        purged = by_model.get("tables.TableLoad", 0)
        audit.log_change("tables purged", tables=purged, contents=contents, days=days, by="command")
        self.stdout.write(f"{counted(purged, 'table')} purged, and the contents of {contents}")
