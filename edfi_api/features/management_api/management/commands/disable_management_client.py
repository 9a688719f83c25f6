"""`disable_management_client NAME`: a client of the management API gets no more tokens, and those it has are void."""

from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from edfi_api.common.commands import name
from edfi_api.core.security.clients import COMMAND
from edfi_api.features.management_api.clients import disable
from edfi_api.features.management_api.management.commands.rotate_management_secret import management_client_named


class Command(BaseCommand):
    """See the module."""

    help = "Disables a client of the management API; its tokens are void."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("name", type=name, help="id of the client")

    def handle(self, *, name: str, **options: Any) -> None:
        disable(management_client_named(name), by=COMMAND)
        self.stdout.write(f'The management client "{name}" is disabled.')
