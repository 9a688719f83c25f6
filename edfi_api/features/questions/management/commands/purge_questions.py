"""`manage.py purge_questions`"""

from argparse import ArgumentParser
from datetime import timedelta
from typing import Any

from django.core.management.base import BaseCommand
from django.utils import timezone

from edfi_api.common.commands import add_retention
from edfi_api.common.conf import api_settings
from edfi_api.common.logs import audit
from edfi_api.common.logs.printable import counted
from edfi_api.features.questions.models import Question


class Command(BaseCommand):
    help = "Deletes from the trace the questions that were asked before the retention time."

    def add_arguments(self, parser: ArgumentParser) -> None:
        add_retention(parser, api_settings.QUESTION_DAYS)

    def handle(self, *args: Any, days: int, **options: Any) -> None:
        purged, _ = Question.objects.filter(asked_at__lt=timezone.now() - timedelta(days=days)).delete()
        audit.log_change("questions purged", questions=purged, days=days, by="command")
        self.stdout.write(f"{counted(purged, 'question')} purged")
