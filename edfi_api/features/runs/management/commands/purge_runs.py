"""`manage.py purge_runs`"""

from typing import Any

from django.core.management.base import BaseCommand

from edfi_api.features.runs.models import purge


class Command(BaseCommand):
    help = (
        "Removes what is older than MEADOWLARK_RUN_DAYS of what clients have done, and folds the minutes of hours that "
        "are older than a week."
    )

    def handle(self, *args: Any, **options: Any) -> None:
        self.stdout.write(f"rows of runs removed: {purge()}")
