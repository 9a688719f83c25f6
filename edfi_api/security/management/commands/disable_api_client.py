"""`disable_api_client CLIENT`: no more tokens for an API client, and those it has are void.

A server may believe a token it has just seen for `MEADOWLARK_TOKEN_CACHE_SECONDS` longer. In the admin the client can
be made active again.
"""

from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from edfi_api.arguments import text
from edfi_api.security.clients import disable_client
from edfi_api.security.management.named_client import client_named


class Command(BaseCommand):
    """See the module."""

    help = "Shut an API client out."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("client", type=text, help="its name or its key")

    def handle(self, *, client: str, **options: Any) -> None:
        found = client_named(client)
        disable_client(found)
        self.stdout.write(f'The API client "{found.name}" ({found.client_id}) is disabled.')
