"""`create_management_client NAME`: make a client of the management API; its id and secret are printed once."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import IntegrityError

from edfi_api.common.commands import name
from edfi_api.core.security.clients import COMMAND
from edfi_api.features.management_api.clients import create
from edfi_api.features.management_api.models import LONGEST_NAME
from edfi_api.features.management_api.scopes import Scope


class Command(BaseCommand):
    """See the module."""

    help = "Makes a client of the management API; its id and secret are printed once."
    _scopes = {scope.removeprefix("edfi_admin_api/"): scope for scope in Scope}

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("name", type=name, help="id of the client, unique in any case")
        parser.add_argument(
            "--scope",
            choices=list(self._scopes),
            action="append",
            default=[],
            help="scope that it may request, repeatable; full_access without any",
        )

    def handle(self, *, name: str, scope: list[str], **options: Any) -> None:
        if len(name) > LONGEST_NAME:
            raise CommandError(f"The name has more than {LONGEST_NAME} characters.")
        scopes = [self._scopes[each] for each in dict.fromkeys(scope)] or [Scope.FULL_ACCESS]
        try:
            credentials = create(name, name, scopes, by=COMMAND)
        except IntegrityError as error:
            raise CommandError(f'There is a management client "{name}" already.') from error
        self.stdout.write(f"id          {credentials.key}\nsecret      {credentials.secret}")
