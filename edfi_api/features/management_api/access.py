"""Who sends a request to the management API, which requests the scopes of its token allow, and its tenant.

Clients are those of this server, or of an identity provider.
"""

import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Any

from django.http import HttpRequest

from edfi_api.common.conf import api_settings
from edfi_api.core.data_stores.models import Tenant
from edfi_api.core.data_stores.stores import tenant_named
from edfi_api.core.security.exceptions import AuthenticationFailed, TokenRefused
from edfi_api.core.security.federation.validation import ValidToken, check_not_refused, is_signed, refused, validated
from edfi_api.core.security.issuers import issuers, value_at
from edfi_api.core.security.rate_limits import limit
from edfi_api.core.security.requests.authentication import bearer_token
from edfi_api.features.management_api import problems
from edfi_api.features.management_api.clients import find_token
from edfi_api.features.management_api.scopes import Scope

_NOT_REPEATED = re.compile(r"[^A-Za-z0-9 _\-.:/]")
_READS = ("GET", "HEAD")


@dataclass(frozen=True)
class Caller:
    """`name` is that of logs, `bucket` that of its rate limit."""

    name: str
    bucket: str
    scopes: Collection[str]


def authenticate(request: HttpRequest) -> Caller:
    """Who sends the request, which counts against the caller's rate limit. Raises RequestRefused."""
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
    """Raises AuthenticationFailed, of which TokenRefused is one, and IdentityProviderAway."""
    may_be_federated = is_signed(token) and bool(issuers())
    if may_be_federated and (valid := validated(token, "management")):
        check_not_refused(valid)
        name = f"{valid.client} of {valid.issuer.issuer}"
        return Caller(name, f"requests of {name}", _scopes(valid))
    found = find_token(token)
    if found is not None:
        return Caller(found.client.key, f"requests of management client {found.client_id}", found.scopes)
    if may_be_federated:
        raise refused("unknown issuer")
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
    """Whether vendors, data stores and the like belong to tenants."""
    return bool(api_settings.MULTI_TENANCY)
