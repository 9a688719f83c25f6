"""The `Authorization` header of a data request → the client that its bearer token was issued to, in Django REST
framework's terms, with a cache per process.

Tokens are those that this server has issued, or those of other identity providers (`federation`). The database holds
the SHA-256 of each issued token, never the token. A client is cached for `TOKEN_CACHE_SECONDS`, though never beyond its
token's expiry. Revoked tokens, changed or deactivated clients and changed claim sets (`claims`) therefore take effect
after at most that time. While the database does not answer, the client of a token stays what it was for another five
minutes: documents may lie in the databases of data stores, which do.

The permission class lets every API client pass. What a client's claim set grants depends on the resource and the
action, and is decided by `authorization.authorize`, which the views call in addition to the permission classes of the
settings.
"""

import hashlib
import re
from threading import Lock
from time import time

from cachetools import TLRUCache, cached
from django.db import DatabaseError, InterfaceError
from django.utils import timezone
from django.views import View
from oauth2_provider.models import get_access_token_model
from rest_framework.authentication import BaseAuthentication
from rest_framework.permissions import BasePermission
from rest_framework.request import Request

from edfi_api.common.conf import api_settings
from edfi_api.core.security.authenticated_client import AuthenticatedClient, authenticated_client, facts_of_client
from edfi_api.core.security.exceptions import AuthenticationFailed, TokenRefused
from edfi_api.core.security.federation.recognition import client_of_signed_token
from edfi_api.core.security.federation.validation import is_signed, refuse
from edfi_api.core.security.issuers import issuers
from edfi_api.core.storage.driver.execution import is_outage

# RFC 9110 §11.4: a scheme is an HTTP token; RFC 6750 §2.1: a bearer token is a b64token.
_HEADER = re.compile(r"(?P<scheme>[\w!#$%&'*+.^`|~-]+)(?: +(?P<value>.*))?", re.ASCII)
_USUAL_BEGINNING = "Bearer "
_BEARER_TOKEN = re.compile(r"[\w.~+/-]+=*", re.ASCII)

# An entry takes about a kilobyte; with more concurrent clients than this, lookups cost queries again.
_MOST_REMEMBERED_TOKENS = 4096
_cache_lock = Lock()
_SECONDS_OF_AN_OUTAGE = 300


class BearerTokenAuthentication(BaseAuthentication):
    """Makes the `AuthenticatedClient` the user of a request, and its token `request.auth`.

    A missing header is refused too, because every route needs a client by default; public views set
    `authentication_classes = []`.
    """

    def authenticate(self, request: Request) -> tuple[AuthenticatedClient, str]:
        token = bearer_token(request.META.get("HTTP_AUTHORIZATION", ""))
        client = client_of_token(token)
        if client is None:
            raise AuthenticationFailed("Invalid token")
        request._request.client_key = client.key  # type: ignore[attr-defined]  # for the logs
        if client.tenant is not None:
            request._request.tenant = client.tenant  # type: ignore[attr-defined]  # for the logs
        return client, token


def bearer_token(header: str) -> str:
    """The token in an `Authorization` header; `AuthenticationFailed` says why there is none."""
    if header.startswith(_USUAL_BEGINNING) and _BEARER_TOKEN.fullmatch(header, len(_USUAL_BEGINNING)):
        return header[len(_USUAL_BEGINNING) :]
    header = header.strip()
    if not header:
        raise AuthenticationFailed("Authorization header is missing.")
    parts = _HEADER.fullmatch(header)
    if parts is None:
        raise AuthenticationFailed("Invalid Authorization header.")
    if parts["scheme"].lower() != "bearer":
        raise AuthenticationFailed("Unknown Authorization header scheme.")
    if not parts["value"]:
        raise AuthenticationFailed("Missing Authorization header bearer token value.")
    if not _BEARER_TOKEN.fullmatch(parts["value"]):
        raise AuthenticationFailed("Invalid Authorization header.")
    return parts["value"]


class IsApiClient(BasePermission):
    """Refuses requests without a valid token."""

    def has_permission(self, request: Request, view: View) -> bool:
        return isinstance(request.user, AuthenticatedClient)


def token_checksum(token: str) -> str:
    """The key under which a token is stored and cached."""
    return hashlib.sha256(token.encode()).hexdigest()


def _now() -> float:
    return time()


def _remembered_until(_checksum: str, client: AuthenticatedClient | None, now: float) -> float:
    """Return when the entry expires. Unknown tokens are not cached: they would evict the known ones."""
    if client is None:
        return now
    until: float = now + api_settings.TOKEN_CACHE_SECONDS
    return min(until, client.token_expires.timestamp())


def _last_known_until(_checksum: str, client: AuthenticatedClient, now: float) -> float:
    until: float = now + api_settings.TOKEN_CACHE_SECONDS + _SECONDS_OF_AN_OUTAGE
    return min(until, client.token_expires.timestamp())


# The clients of tokens as they were last found, by the token's checksum.
_last_known: TLRUCache[str, AuthenticatedClient] = TLRUCache(_MOST_REMEMBERED_TOKENS, ttu=_last_known_until, timer=_now)


@cached(TLRUCache(_MOST_REMEMBERED_TOKENS, ttu=_remembered_until, timer=_now), key=token_checksum, lock=_cache_lock)
def client_of_token(token: str) -> AuthenticatedClient | None:
    """The client that `token` authenticates; None if the token is unknown or expired, or its client is inactive.

    Raises TokenRefused and IdentityProviderAway for tokens of other identity providers, and Django's errors if the
    database does not answer and the token has not been looked up before.
    """
    checksum = token_checksum(token)
    try:
        client = _looked_up(token, checksum)
    except TokenRefused:
        with _cache_lock:
            _last_known.pop(checksum, None)
        raise
    except (DatabaseError, InterfaceError) as error:
        with _cache_lock:
            last = _last_known.get(checksum) if is_outage(error) else None
        if last is None:
            raise
        return last
    with _cache_lock:
        if client is None:
            _last_known.pop(checksum, None)
        else:
            _last_known[checksum] = client
    return client


def remembered_client(checksum: str) -> AuthenticatedClient | None:
    """Return what `client_of_token` returns for the token with this checksum, as long as it need not look it up."""
    with _cache_lock:
        try:
            found: AuthenticatedClient = client_of_token.cache[checksum]
        except KeyError:
            return None
    return found


def _looked_up(token: str, checksum: str) -> AuthenticatedClient | None:
    if not is_signed(token) or not issuers():
        return _own(checksum)
    found = client_of_signed_token(token) or _own(checksum)
    if found is None:
        raise refuse("unknown issuer")
    return found


def _own(checksum: str) -> AuthenticatedClient | None:
    """The client of a token that this server has issued."""
    now = timezone.now()
    found = (
        get_access_token_model()
        .objects.select_related("application__application__vendor__tenant")
        .annotate(**facts_of_client("application", "application__application"))
        .filter(token_checksum=checksum, expires__gt=now, application__is_active=True)
        .exclude(application__expires_at__lte=now)
        .first()
    )
    return None if found is None else authenticated_client(found.application, found, found.expires, found.scope)


def looked_up_again(token: str) -> AuthenticatedClient | None:
    """Return the client of a token as it is now, past the cache of `client_of_token`."""
    forget(token)
    return client_of_token(token)


def forget(token: str) -> None:
    """Look the token up again with the next request in this process."""
    with _cache_lock:
        client_of_token.cache.pop(token_checksum(token), None)
