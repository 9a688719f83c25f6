"""Bearer token → the client it was issued to, with a cache per process.

Tokens are those that this server has issued, or those of other identity providers (`federation`). The database holds
the SHA-256 of each issued token, never the token. A client is cached for `TOKEN_CACHE_SECONDS`, though never beyond its
token's expiry. Revoked tokens, changed or deactivated clients and changed claim sets (`claims`) therefore take effect
after at most that time. While the database does not answer, the client of a token stays what it was for another five
minutes: documents may lie in the databases of data stores, which do.
"""

import hashlib
from threading import Lock

from cachetools import TLRUCache, cached
from django.db import DatabaseError, InterfaceError
from django.utils import timezone
from oauth2_provider.models import get_access_token_model

from edfi_api.conf import api_settings
from edfi_api.storage.exceptions import is_outage

from .authenticated_client import AuthenticatedClient, authenticated_client, facts_of_client
from .exceptions import TokenRefused
from .federation.issuers import issuers
from .federation.recognition import client_of_signed_token
from .federation.validation import is_signed, refused

__all__ = ["AuthenticatedClient", "client_of_token", "forget", "looked_up_again", "token_checksum"]

# An entry takes about a kilobyte; with more concurrent clients than this, lookups cost queries again.
_MOST_REMEMBERED_TOKENS = 4096
_cache_lock = Lock()
_SECONDS_OF_AN_OUTAGE = 300


def token_checksum(token: str) -> str:
    """The key under which a token is stored and cached."""
    return hashlib.sha256(token.encode()).hexdigest()


def _now() -> float:
    return timezone.now().timestamp()


def _remembered_until(_checksum: str, client: AuthenticatedClient | None, now: float) -> float:
    """When the entry expires. Unknown tokens are not cached: they would evict the known ones."""
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


def _looked_up(token: str, checksum: str) -> AuthenticatedClient | None:
    if not is_signed(token) or not issuers():
        return _own(checksum)
    found = client_of_signed_token(token) or _own(checksum)
    if found is None:
        raise refused("unknown issuer")
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
    """As `client_of_token`, as it is now."""
    forget(token)
    return client_of_token(token)


def forget(token: str) -> None:
    """Look the token up again with the next request in this process."""
    with _cache_lock:
        client_of_token.cache.pop(token_checksum(token), None)
