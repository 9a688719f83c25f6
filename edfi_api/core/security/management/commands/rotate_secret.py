"""`rotate_secret CLIENT`: give an API client a new secret, print it once, and revoke the old secret and its tokens."""

from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from edfi_api.common.commands import text
from edfi_api.core.security.clients import rotate_secret
from edfi_api.core.security.management.named_client import client_named


class Command(BaseCommand):
    """See the module."""

    help = "Gives an API client a new secret; it is printed once."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("client", type=text, help="name or key of the client")

    def handle(self, *, client: str, **options: Any) -> None:
        credentials = rotate_secret(client_named(client))
        self.stdout.write(f"key         {credentials.key}\nsecret      {credentials.secret}")
