"""`refuse_tokens --issuer ISSUER`: refuse the tokens that an identity provider has issued so far.

For a provider, or a client of it, that has been broken into: tokens are good until they expire, and no provider takes
them back. The time is compared with the claim `iat`, in whole seconds, so that a token which is issued within the same
second is refused too. Servers accept a token that they remember for up to `MEADOWLARK_TOKEN_CACHE_SECONDS` longer.
"""

from datetime import datetime
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils import timezone

from edfi_api.common.commands import name, timestamp
from edfi_api.core.security.clients import COMMAND
from edfi_api.core.security.federation.validation import refuse_tokens
from edfi_api.core.security.issuers import issuers


class Command(BaseCommand):
    """See the module."""

    help = "Refuses tokens of an identity provider that it issued before a time."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--issuer", type=name, required=True, help="the provider, one of MEADOWLARK_OIDC_ISSUERS")
        parser.add_argument("--client", type=name, help="client as the provider calls it; without, all clients")
        parser.add_argument(
            "--before",
            type=_now_or_timestamp,
            default="now",
            metavar="TIME",
            help="now, 2027-07-01, or with a time; UTC",
        )

    def handle(self, *, issuer: str, client: str | None, before: datetime, **options: Any) -> None:
        if issuer not in issuers():
            known = ", ".join(issuers()) or "none"
            raise CommandError(f'MEADOWLARK_OIDC_ISSUERS has no issuer "{issuer}"; it has: {known}.')
        if before > timezone.now():
            raise CommandError(f"{before:%Y-%m-%dT%H:%M:%S} is in the future.")
        refuse_tokens(issuer, client or "", before, by=COMMAND)
        whose = f"of {client}" if client else "of all clients"
        self.stdout.write(f"Tokens {whose} that {issuer} issued before {before:%Y-%m-%dT%H:%M:%SZ} are refused.")


def _now_or_timestamp(given: str) -> datetime:
    return timezone.now() if given == "now" else timestamp(given)
