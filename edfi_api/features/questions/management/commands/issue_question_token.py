"""`manage.py issue_question_token NAME`"""

import secrets
from argparse import ArgumentParser
from datetime import timedelta
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from edfi_api.common.commands import integer, name
from edfi_api.common.logs import audit
from edfi_api.features.questions.models import QuestionReader
from edfi_api.features.questions.people import token_digest

_MOST_DAYS = 400


class Command(BaseCommand):
    help = (
        "Prints a bearer token with which a reader of questions asks over HTTP, once; the one before is refused then."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("name", type=name, help="the reader of questions")
        parser.add_argument(
            "--days", type=integer(1, _MOST_DAYS), default=90, help="for how long it is accepted (default 90)"
        )

    def handle(self, *args: Any, name: str, days: int, **options: Any) -> None:
        token = secrets.token_urlsafe(32)
        expires = timezone.now() + timedelta(days=days)
        changed = QuestionReader.objects.filter(name=name).update(
            token_digest=token_digest(token), token_expires_at=expires
        )
        if not changed:
            raise CommandError(f"there is no reader of questions {name}: the admin has a page of them")
        audit.log_change("question token issued", reader=name, expires=expires.isoformat(), by="command")
        self.stdout.write(token)
