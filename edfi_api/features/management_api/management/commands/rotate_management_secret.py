"""`rotate_management_secret NAME`: a new secret for a client of the management API; its tokens are void."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from edfi_api.common.commands import name
from edfi_api.core.security.clients import COMMAND
from edfi_api.features.management_api.clients import client_of_key, rotate_secret
from edfi_api.features.management_api.models import ManagementClient


class Command(BaseCommand):
    """See the module."""

    help = "Gives a client of the management API a new secret, which is printed once; its tokens are void."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("name", type=name, help="id of the client")

    def handle(self, *, name: str, **options: Any) -> None:
        credentials = rotate_secret(management_client_named(name), by=COMMAND)
        self.stdout.write(f"id          {credentials.key}\nsecret      {credentials.secret}")


def management_client_named(key: str) -> ManagementClient:
    """The client that an argument names. Raises CommandError."""
    found = client_of_key(key)
    if found is None:
        raise CommandError(f'There is no management client "{key}".')
    return found
