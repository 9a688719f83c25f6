"""Creating, changing and authenticating management clients, and their tokens. Secrets are returned once.

Functions with `by` write a line of the audit log, in which `by` is the command or client that did it.
"""

import re
import secrets
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django.db import transaction
from django.http import HttpRequest
from django.utils import timezone
from oauth2_provider.settings import oauth2_settings

from edfi_api.common.conf import api_settings
from edfi_api.common.logs import audit
from edfi_api.core.data_stores.models import Tenant
from edfi_api.core.data_stores.stores import tenant_named
from edfi_api.core.security.credentials import Credentials
from edfi_api.core.security.exceptions import AuthenticationFailed, TokenRefused
from edfi_api.core.security.federation.validation import ValidToken, check_not_refused, is_signed, refuse, validated
from edfi_api.core.security.issuers import issuers, value_at
from edfi_api.core.security.rate_limits import limit
from edfi_api.core.security.requests.authentication import bearer_token, token_checksum
from edfi_api.features.management_api import problems
from edfi_api.features.management_api.models import ManagementClient, ManagementToken
from edfi_api.features.management_api.scopes import Scope, granted


@dataclass(frozen=True)
class IssuedToken:
    """A new token, of which only a hash is stored; `seconds` is its lifetime."""

    token: str
    seconds: int
    scopes: Sequence[str]


class NoScope(Exception):
    """Raised if none of the requested scopes is assigned to the client."""


def create(key: str, name: str, scopes: Sequence[Scope], *, secret: str | None = None, by: str) -> Credentials:
    """Store a new management client. Raises `IntegrityError` if there is one of that key, in any case."""
    credentials = Credentials(key, secret) if secret else Credentials.generated(key)
    with transaction.atomic():
        ManagementClient.objects.create(key=key, name=name, secret=credentials.hash, scopes=list(scopes))
        audit.log_change("management client registered", management_client=key, scopes=" ".join(scopes), by=by)
    return credentials


@transaction.atomic
def rotate_secret(client: ManagementClient, *, by: str) -> Credentials:
    """Replace the secret and revoke all tokens."""
    credentials = Credentials.generated(client.key)
    client.secret = credentials.hash
    client.save(update_fields=["secret"])
    client.tokens.all().delete()
    audit.log_change("management secret rotated", management_client=client.key, by=by)
    return credentials


@transaction.atomic
def disable(client: ManagementClient, *, by: str) -> None:
    """Disable the client: it gets no tokens any more, and those that it has are revoked."""
    client.is_active = False
    client.save(update_fields=["is_active"])
    client.tokens.all().delete()
    audit.log_change("management client disabled", management_client=client.key, by=by)


def recognise(credentials: Credentials) -> ManagementClient | None:
    """Return the active client with these credentials; otherwise None, after the same amount of work."""
    client = client_of_key(credentials.stored_key)
    is_right = credentials.match(client.secret if client else None)
    return client if client and is_right and client.is_active else None


def client_of_key(key: str) -> ManagementClient | None:
    """The client of this key, as it is spelt; without NUL."""
    return ManagementClient.objects.filter(key=key).first()


@transaction.atomic
def issue_token(client: ManagementClient, requested_scopes: str) -> IssuedToken | None:
    """Store a new token; None if the client has been disabled, or its secret replaced, since then. Raises NoScope."""
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


def find_token(token: str) -> ManagementToken | None:
    """The valid token of an active client. Not cached: a token that is revoked is refused at once."""
    return (
        ManagementToken.objects.select_related("client")
        .filter(checksum=token_checksum(token), expires_at__gt=timezone.now(), client__is_active=True)
        .first()
    )


# Clients are those of this server, or of an identity provider.

_NOT_REPEATED = re.compile(r"[^A-Za-z0-9 _\-.:/]")
_READS = ("GET", "HEAD")


@dataclass(frozen=True)
class Caller:
    """Who sends a request to the management API: `name` is that of logs, `bucket` that of its rate limit."""

    name: str
    bucket: str
    scopes: Collection[str]


def authenticate(request: HttpRequest) -> Caller:
    """Return who sends the request, which counts against the caller's rate limit. Raises RequestRefused."""
    try:
        caller = caller_of(bearer_token(request.META.get("HTTP_AUTHORIZATION", "")))
    except TokenRefused as error:
        raise problems.unauthenticated(audit_reason=error.cause) from None
    except AuthenticationFailed:
        raise problems.unauthenticated() from None
    request.client_key = caller.name  # type: ignore[attr-defined]  # for the logs
    limit(caller.bucket, api_settings.MANAGEMENT_REQUESTS_PER_MINUTE)
    return caller


def caller_of(token: str) -> Caller:
    """Return the caller of a token. Raises AuthenticationFailed, of which TokenRefused is one, and
    IdentityProviderAway."""
    may_be_federated = is_signed(token) and bool(issuers())
    if may_be_federated and (valid := validated(token, "management")):
        check_not_refused(valid)
        name = f"{valid.client} of {valid.issuer.issuer}"
        return Caller(name, f"requests of {name}", _scopes(valid))
    found = find_token(token)
    if found is not None:
        return Caller(found.client.key, f"requests of management client {found.client_id}", found.scopes)
    if may_be_federated:
        raise refuse("unknown issuer")
    raise AuthenticationFailed("Invalid token")


def _scopes(valid: ValidToken) -> list[str]:
    """The scopes of the management API among all that the token has."""
    claimed = (value_at(valid.claims, path) for path in valid.issuer.claims.scopes)
    names = {name for value in claimed for name in _names(value)}
    return [scope for scope in Scope if scope in names]


def _names(value: Any) -> Iterable[str]:
    items = value.split() if isinstance(value, str) else value if isinstance(value, list) else ()
    return (each for each in items if isinstance(each, str))


def authorize(caller: Caller, method: str, *, is_authorization_metadata: bool) -> None:
    """Raise RequestRefused unless one of the scopes of the caller allows the request."""
    allowing = {Scope.FULL_ACCESS}
    if method in _READS:
        allowing |= {Scope.READ_ONLY, *([Scope.AUTHORIZATION_METADATA] if is_authorization_metadata else ())}
    if allowing.isdisjoint(caller.scopes):
        raise problems.forbidden()


def tenant_of(request: HttpRequest) -> Tenant | None:
    """The tenant of the header; None on servers without tenants. Raises RequestRefused."""
    if not is_multi_tenant():
        return None
    name = request.META.get("HTTP_TENANT", "").strip()
    if not name:
        raise problems.bad_request("The 'Tenant' header is required when multi-tenancy is enabled")
    tenant = tenant_named(name.replace("\0", ""))
    if tenant is None:
        raise problems.bad_request(f"Invalid tenant: {_NOT_REPEATED.sub('', name)}")
    return tenant


def is_multi_tenant() -> bool:
    """Return whether vendors, data stores and the like belong to tenants."""
    return bool(api_settings.MULTI_TENANCY)
