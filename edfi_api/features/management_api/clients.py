"""Creating, changing and authenticating management clients, and their tokens. Secrets are returned once.

Functions with `by` write a line of the audit log, in which `by` is the command or client that did it.
"""

import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db import transaction
from django.utils import timezone
from oauth2_provider.settings import oauth2_settings

from edfi_api.common.logs import audit
from edfi_api.core.security.credentials import Credentials
from edfi_api.core.security.requests.authentication import token_checksum
from edfi_api.features.management_api.models import ManagementClient, ManagementToken
from edfi_api.features.management_api.scopes import Scope, granted


@dataclass(frozen=True)
class IssuedToken:
    """A new token, of which only a hash is stored; `seconds` is its lifetime."""

    token: str
    seconds: int
    scopes: Sequence[str]


class NoScope(Exception):
    """None of the requested scopes is assigned to the client."""


def create(key: str, name: str, scopes: Sequence[Scope], *, secret: str | None = None, by: str) -> Credentials:
    """Store a new management client. Raises `IntegrityError` if there is one of that key, in any case."""
    credentials = Credentials(key, secret) if secret else Credentials.generated(key)
    with transaction.atomic():
        ManagementClient.objects.create(key=key, name=name, secret=credentials.hash, scopes=list(scopes))
        audit.administered("management client registered", management_client=key, scopes=" ".join(scopes), by=by)
    return credentials


@transaction.atomic
def rotate_secret(client: ManagementClient, *, by: str) -> Credentials:
    """Replace the secret and revoke all tokens."""
    credentials = Credentials.generated(client.key)
    client.secret = credentials.hash
    client.save(update_fields=["secret"])
    client.tokens.all().delete()
    audit.administered("management secret rotated", management_client=client.key, by=by)
    return credentials


@transaction.atomic
def disable(client: ManagementClient, *, by: str) -> None:
    """The client gets no tokens any more, and those that it has are revoked."""
    client.is_active = False
    client.save(update_fields=["is_active"])
    client.tokens.all().delete()
    audit.administered("management client disabled", management_client=client.key, by=by)


def recognise(credentials: Credentials) -> ManagementClient | None:
    """The active client with these credentials; otherwise None, after the same amount of work for every reason."""
    client = client_of_key(credentials.stored_key)
    is_right = credentials.fit(client.secret if client else None)
    return client if client and is_right and client.is_active else None


def client_of_key(key: str) -> ManagementClient | None:
    """The client of this key, as it is spelt; without NUL."""
    return ManagementClient.objects.filter(key=key).first()


@transaction.atomic
def issue_token(client: ManagementClient, requested_scopes: str) -> IssuedToken | None:
    """Store a new token; None if the client has been disabled, or its secret replaced, since it was recognised. Raises
    NoScope."""
    unchanged = ManagementClient.objects.select_for_update(no_key=True).filter(
        pk=client.pk, secret=client.secret, is_active=True
    )
    if unchanged.first() is None:
        return None
    scopes = granted(requested_scopes, client.scopes)
    if not scopes:
        raise NoScope
    now = timezone.now()
    ManagementToken.objects.filter(expires_at__lt=now).delete()
    token, seconds = secrets.token_urlsafe(32), oauth2_settings.ACCESS_TOKEN_EXPIRE_SECONDS
    ManagementToken.objects.create(
        client=client,
        checksum=token_checksum(token),
        scopes=scopes,
        issued_at=now,
        expires_at=now + timedelta(seconds=seconds),
    )
    return IssuedToken(token, seconds, scopes)


def find_token(token: str, at: datetime | None = None) -> ManagementToken | None:
    """The valid token of an active client. Not cached: a token that is revoked is refused at once."""
    return (
        ManagementToken.objects.select_related("client")
        .filter(checksum=token_checksum(token), expires_at__gt=at or timezone.now(), client__is_active=True)
        .first()
    )
