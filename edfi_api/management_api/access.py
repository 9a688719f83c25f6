"""Who a request comes from, whether it may do what it asks for, and for which tenant."""

import re

from django.http import HttpRequest

from edfi_api.conf import api_settings
from edfi_api.data_stores.models import Tenant
from edfi_api.data_stores.tenants import tenant_named
from edfi_api.security.authentication import bearer_token
from edfi_api.security.exceptions import AuthenticationFailed
from edfi_api.security.rate_limits import limit

from . import problems
from .clients import find_token
from .models import ManagementToken
from .scopes import allows

_NOT_REPEATED = re.compile(r"[^A-Za-z0-9 _\-.:/]")
_READS = ("GET", "HEAD")


def authenticate(request: HttpRequest) -> ManagementToken:
    """The token of the request, whose client counts against its rate limit. Raises a Refusal."""
    try:
        found = find_token(bearer_token(request.META.get("HTTP_AUTHORIZATION", "")))
    except AuthenticationFailed:
        found = None
    if found is None:
        raise problems.unauthenticated()
    request.client_key = found.client.key  # type: ignore[attr-defined]  # for the logs
    limit(f"requests of management client {found.client_id}", api_settings.MANAGEMENT_REQUESTS_PER_MINUTE)
    return found


def authorize(token: ManagementToken, method: str, *, is_authorization_metadata: bool) -> None:
    """Raise a Refusal unless the scopes of the token allow the request."""
    is_read = method in _READS
    if not allows(token.scopes, is_read=is_read, is_authorization_metadata=is_authorization_metadata):
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
