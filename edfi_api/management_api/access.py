"""The client of a request, whether it may do what it requests, and its tenant."""

import re

from django.http import HttpRequest

from edfi_api.conf import api_settings
from edfi_api.data_stores.models import Tenant
from edfi_api.data_stores.tenants import tenant_named
from edfi_api.security.authentication import bearer_token
from edfi_api.security.exceptions import AuthenticationFailed, TokenRefused
from edfi_api.security.rate_limits import limit

from . import problems
from .callers import Caller, caller_of
from .scopes import allows

_NOT_REPEATED = re.compile(r"[^A-Za-z0-9 _\-.:/]")
_READS = ("GET", "HEAD")


def authenticate(request: HttpRequest) -> Caller:
    """Who sends the request, which counts against the caller's rate limit. Raises a Refusal."""
    try:
        caller = caller_of(bearer_token(request.META.get("HTTP_AUTHORIZATION", "")))
    except TokenRefused as error:
        raise problems.unauthenticated(audit_reason=error.cause) from None
    except AuthenticationFailed:
        raise problems.unauthenticated() from None
    request.client_key = caller.name  # type: ignore[attr-defined]  # for the logs
    limit(caller.bucket, api_settings.MANAGEMENT_REQUESTS_PER_MINUTE)
    return caller


def authorize(caller: Caller, method: str, *, is_authorization_metadata: bool) -> None:
    """Raise a Refusal unless the scopes of the caller allow the request."""
    is_read = method in _READS
    if not allows(caller.scopes, is_read=is_read, is_authorization_metadata=is_authorization_metadata):
        raise problems.forbidden()


def tenant_of(request: HttpRequest) -> Tenant | None:
    """The tenant of the header; None on servers without tenants. Raises a Refusal."""
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
