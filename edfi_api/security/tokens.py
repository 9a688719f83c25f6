"""Bearer token → the client it was issued to, with a cache per process.

The database holds the SHA-256 of each token, never the token. A client is cached for `TOKEN_CACHE_SECONDS`, though
never beyond its token's expiry. Revoked tokens, changed or deactivated clients and changed claim sets (`claims`)
therefore take effect after at most that time. While the database does not answer, the client of a token stays what it
was for another five minutes: documents may lie in the databases of data stores, which do.
"""

import hashlib
from dataclasses import dataclass
from datetime import datetime
from threading import Lock

from cachetools import TLRUCache, cached
from django.contrib.postgres.expressions import ArraySubquery
from django.db import DatabaseError, InterfaceError
from django.db.models import OuterRef
from django.utils import timezone
from oauth2_provider.models import AbstractAccessToken, get_access_token_model

from edfi_api.conf import api_settings
from edfi_api.data_stores.models import DataStoresVersion
from edfi_api.storage.exceptions import is_outage

from .models import ApiClientDataStore, Application, ClaimsVersion

# An entry takes about a kilobyte; with more concurrent clients than this, lookups cost queries again.
_MOST_REMEMBERED_TOKENS = 4096
_cache_lock = Lock()
_SECONDS_OF_AN_OUTAGE = 300


@dataclass(frozen=True)
class AuthenticatedClient:
    """The caller of a request: an API client, as it was when its token was last looked up.

    `row_id` is the primary key of the `ApiClient`, stored as the creator of documents; `claims_version` is the version
    of all claims at that time.
    """

    row_id: int
    key: str
    name: str
    # None if the claim set that the application names does not exist.
    claim_set_id: int | None
    claim_set_name: str
    claims_version: int
    education_organization_ids: tuple[int, ...]
    namespace_prefixes: tuple[str, ...]
    token_expires: datetime
    # The primary keys of the profiles that the application's clients are bound by.
    profile_ids: tuple[int, ...] = ()
    # Id and name of the tenant that it belongs to.
    tenant_id: int | None = None
    tenant: str | None = None
    # Of the data stores that it may use, and the version of all data stores at that time.
    data_store_ids: frozenset[int] = frozenset()
    data_stores_version: int = 0
    # Django REST framework reads this attribute of a request's user.
    is_authenticated: bool = True


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

    Raises Django's errors if the database does not answer and the token has not been looked up before.
    """
    checksum = token_checksum(token)
    try:
        client = _looked_up(checksum)
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


def _looked_up(checksum: str) -> AuthenticatedClient | None:
    now = timezone.now()
    found = (
        get_access_token_model()
        .objects.select_related("application__application__vendor__tenant")
        .annotate(
            claims_version=ClaimsVersion.objects.values("version"),
            profile_ids=ArraySubquery(
                Application.objects.filter(pk=OuterRef("application__application"), profiles__isnull=False)
                .order_by()
                .values("profiles__pk")
            ),
            data_store_ids=ArraySubquery(
                ApiClientDataStore.objects.filter(api_client=OuterRef("application")).values("data_store")
            ),
            data_stores_version=DataStoresVersion.objects.values("version"),
        )
        .filter(token_checksum=checksum, expires__gt=now, application__is_active=True)
        .exclude(application__expires_at__lte=now)
        .first()
    )
    return None if found is None else _authenticated_client(found)


def looked_up_again(token: str) -> AuthenticatedClient | None:
    """As `client_of_token`, as it is now."""
    forget(token)
    return client_of_token(token)


def forget(token: str) -> None:
    """Look the token up again with the next request in this process."""
    with _cache_lock:
        client_of_token.cache.pop(token_checksum(token), None)


def _authenticated_client(token: AbstractAccessToken) -> AuthenticatedClient:
    client = token.application
    application = client.application
    tenant = application.vendor.tenant
    return AuthenticatedClient(
        row_id=client.pk,
        key=client.client_id,
        name=client.name,
        claim_set_id=application.claim_set_id,
        claim_set_name=application.claim_set_name,
        claims_version=token.claims_version,
        education_organization_ids=_within_scope(application.education_organization_ids, token.scope),
        namespace_prefixes=tuple(application.vendor.namespace_prefixes),
        token_expires=min(token.expires, client.expires_at or token.expires),
        profile_ids=tuple(token.profile_ids),
        tenant_id=application.vendor.tenant_id,
        tenant=None if tenant is None else tenant.name,
        data_store_ids=frozenset(token.data_store_ids),
        data_stores_version=token.data_stores_version,
    )


def _within_scope(education_organization_ids: list[int], scope: str) -> tuple[int, ...]:
    """All organizations of the application, or the one to which the token's scope is limited."""
    return tuple(each for each in education_organization_ids if not scope or str(each) == scope)
