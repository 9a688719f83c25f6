"""`disable_api_client CLIENT`: make an API client inactive and revoke its tokens.

A server process can accept a cached token for up to `MEADOWLARK_TOKEN_CACHE_SECONDS` longer. The client can be made
active again in the admin.
"""

from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from edfi_api.common.commands import text
from edfi_api.core.security.clients import disable_client
from edfi_api.core.security.management.named_client import client_named


class Command(BaseCommand):
    """See the module."""

    help = "Makes an API client inactive and revokes its tokens."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("client", type=text, help="name or key of the client")

    def handle(self, *, client: str, **options: Any) -> None:
        found = client_named(client)
        disable_client(found)
        self.stdout.write(f'The API client "{found.name}" ({found.client_id}) is disabled.')
