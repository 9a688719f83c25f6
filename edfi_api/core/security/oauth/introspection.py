"""Token introspection for the bearer of the token. See
meadowlark/docs/design/authorization.md#token-introspection."""

from typing import cast
from urllib.parse import parse_qsl

import orjson
from django.http import HttpRequest
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.status import HTTP_401_UNAUTHORIZED
from rest_framework.views import APIView

from edfi_api.common.ods_compatibility import OdsCompatibility
from edfi_api.common.request_body import BodyIncomplete, BodyTooLong, read_body
from edfi_api.core.security.authenticated_client import AuthenticatedClient
from edfi_api.core.security.claim_names import SERVICES, claim_name
from edfi_api.core.security.claims.compile import Operations, operations
from edfi_api.core.security.exceptions import AuthenticationFailed, ClaimSetNotFound, ClaimSetVanished, UnusableToken
from edfi_api.core.security.models import Application
from edfi_api.core.security.oauth.token_request import in_lower_case
from edfi_api.core.security.organizations import reachable_organizations, undescribed_organizations
from edfi_api.core.security.requests.data_stores import lease_for_token_info
from edfi_api.model.surface.resource import Surface

_LONGEST_BODY = 16 * 1024


class TokenInfoView(APIView):
    """`POST /oauth/token_info`: the body repeats the token of the header, as a form or as JSON."""

    http_method_names = ["post"]
    surface: Surface = None  # type: ignore[assignment]  # set by `as_view`, which needs an attribute

    def handle_exception(self, exc: Exception) -> Response:
        if isinstance(exc, AuthenticationFailed) and OdsCompatibility.TOKENS.applies:
            return Response(status=HTTP_401_UNAUTHORIZED)
        return super().handle_exception(exc)

    def post(self, request: Request) -> Response:
        token = _token(request._request)
        if token is None:
            raise UnusableToken("The token was not present, or was not processable.")
        if token != request.auth:
            raise UnusableToken("The Authorization header token does not match the token in the request body.", token)
        client = cast(AuthenticatedClient, request.user)
        described = _token_info(client, self.surface, _organizations(request, client, self.surface))
        return Response(described, headers={"Cache-Control": "no-cache"})


def _token(request: HttpRequest) -> str | None:
    """The member `token` in any case, if it is there once; the body itself, not its content type, decides between JSON
    and form."""
    try:
        body = read_body(request, _LONGEST_BODY)
    except (BodyTooLong, BodyIncomplete):
        return None
    try:
        pairs = orjson.loads(body).items() if body.lstrip().startswith(b"{") else parse_qsl(body.decode())
        token = in_lower_case(pairs).get("token")
    except ValueError:
        return None
    return token if isinstance(token, str) else None


def _organizations(request: Request, client: AuthenticatedClient, surface: Surface) -> list[dict[str, object]]:
    """The client's education organizations; undescribed if the address does not say in which of several databases."""
    claimed = client.education_organization_ids
    lease = lease_for_token_info(client, request)
    if lease is None:
        return undescribed_organizations(claimed)
    with lease:
        return reachable_organizations(claimed, surface, lease.using)


def _token_info(
    client: AuthenticatedClient, surface: Surface, organizations: list[dict[str, object]]
) -> dict[str, object]:
    try:
        granted = operations(client)
    except ClaimSetVanished as error:
        raise ClaimSetNotFound from error
    return {
        "active": True,
        "client_id": client.key,
        "exp": int(client.token_expires.timestamp()),
        "namespace_prefixes": client.namespace_prefixes,
        "education_organizations": organizations,
        "assigned_profiles": _assigned_profiles(client),
        "claim_set": {"name": client.claim_set_name},
        "resources": _resources(granted, surface),
        "services": _services(granted),
    }


def _assigned_profiles(client: AuthenticatedClient) -> list[str]:
    """The names of the profiles that the client is bound by, as they are spelt; those that do not fit the served
    standard too."""
    assigned = Application.objects.filter(api_clients=client.row_id, profiles__in=client.profile_ids)
    return sorted(assigned.values_list("profiles__name", flat=True), key=str.lower)


def _resources(granted: Operations, surface: Surface) -> list[dict[str, object]]:
    by_path = sorted((resource.url_path, claim_name(resource)) for resource in surface.resources)
    return [{"resource": path, "operations": granted[name]} for path, name in by_path if granted.get(name)]


def _services(granted: Operations) -> list[dict[str, object]]:
    names = sorted(name for name in granted if name.startswith(SERVICES) and granted[name])
    return [{"service": name.removeprefix(SERVICES), "operations": granted[name]} for name in names]
