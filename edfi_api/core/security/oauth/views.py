"""The token endpoint: key and secret in, bearer token out (OAuth 2.0 client credentials, RFC 6749 §4.4); token
introspection for the bearer of the token, see meadowlark/docs/design/authorization.md#token-introspection; and the page
of a link that shows a secret.

`token_request` reads the request; oauthlib runs the grant; django-oauth-toolkit stores the token as a checksum only
(`COMPLIANT_BCP_RFC9700_TOKEN_STORAGE`). Errors are answered in JSON as in RFC 6749 §5.2.

A token takes 3 to 4 ms of processor time, measured through gunicorn on a busy machine; a wrong secret and an unknown
key take as long. The hash is 0.3 of it.

Expired tokens remain in their table until `manage.py cleartokens` removes them; run it daily.
"""

import json
import re
from collections.abc import Sequence
from typing import Any, cast
from urllib.parse import parse_qsl

import orjson
from django.conf import settings
from django.db import DatabaseError, InterfaceError, transaction
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.utils import timezone
from django.utils.decorators import method_decorator
from django.views import View
from django.views.decorators.cache import never_cache
from django.views.decorators.csrf import csrf_exempt
from oauth2_provider.oauth2_validators import OAuth2Validator
from oauth2_provider.views.mixins import OAuthLibMixin
from oauthlib.common import Request as OauthRequest
from oauthlib.oauth2 import OAuth2Error
from oauthlib.oauth2.rfc6749.errors import (
    InvalidClientError,
    InvalidRequestError,
    InvalidScopeError,
    TemporarilyUnavailableError,
)
from rest_framework.exceptions import MethodNotAllowed, UnsupportedMediaType
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.status import HTTP_401_UNAUTHORIZED
from rest_framework.views import APIView

from edfi_api.common.addresses import base_of, context_segments
from edfi_api.common.conf import api_settings
from edfi_api.common.logs import audit
from edfi_api.common.logs.remote_address import remote_address, subscriber
from edfi_api.common.ods_compatibility import OdsCompatibility
from edfi_api.common.request_body import ACCEPTED_CODINGS, BodyIncomplete, BodyTooLong, read_body
from edfi_api.core.security.authenticated_client import AuthenticatedClient
from edfi_api.core.security.claim_names import SERVICES, claim_name
from edfi_api.core.security.claims.compile import Operations, operations
from edfi_api.core.security.clients import is_still_as_recognised, recognise_client, take_secret
from edfi_api.core.security.credentials import Credentials
from edfi_api.core.security.exceptions import (
    AuthenticationFailed,
    ClaimSetNotFound,
    ClaimSetVanished,
    TooManyRequests,
    UnusableToken,
)
from edfi_api.core.security.models import ApiClient, Application
from edfi_api.core.security.oauth.token_request import (
    GRANT_TYPE,
    CredentialsMisplaced,
    CredentialsMissing,
    TokenRequest,
    in_lower_case,
    read_token_request,
)
from edfi_api.core.security.organizations import reachable_organizations, undescribed_organizations
from edfi_api.core.security.rate_limits import limit
from edfi_api.core.security.requests.data_stores import lease_for_token_info
from edfi_api.core.storage.driver.execution import is_outage
from edfi_api.model.surface.resource import Surface

# RFC 6749 §5.1 and §5.2 for every answer; the challenge goes with 401 only.
_HEADERS = {"Cache-Control": "no-store", "Pragma": "no-cache"}
# The ODS/API accepts these media types.
_MEDIA_TYPES = ("", "application/json", "application/x-www-form-urlencoded")
_CHALLENGE = {"WWW-Authenticate": 'Basic realm="Ed-Fi API"'}
# Token types are case-insensitive; Ed-Fi's older server sends lower case.
_BEARER = "bearer"
_MISSING = (
    "{} not sent, or empty; perhaps a variable is. Send key and secret as Basic credentials in the header "
    "Authorization, or as client_id and client_secret in the form."
)
_HINTS = [
    "The key or the secret is wrong, or the client was disabled. Both are sent as Basic credentials, or as client_id "
    "and client_secret in the form.",
    "A secret is shown only once. The operator of the server can make another: manage.py rotate_secret NAME.",
]
_MISPLACED = (
    "Key and secret were not looked at. Send them once: as Basic credentials in the header Authorization, or as "
    "client_id and client_secret in the form and without that header. A token, which some libraries add to every "
    "request, is for other addresses."
)
# This is no header of requests: it is how the tenant of the address is handed on through oauthlib.
_TENANT = "tenant"
_EDUCATION_ORGANIZATION_ID = re.compile(r"[0-9]{1,19}")


class ClientCredentialsValidator(OAuth2Validator):  # type: ignore[misc]  # the toolkit is untyped
    """The callbacks of oauthlib that differ from the toolkit's, which handles the rest and stores the token."""

    def authenticate_client(self, request: OauthRequest, *args: object, **kwargs: object) -> bool:
        """The client's rate limit counts only requests with the right secret, so that others cannot exhaust it."""
        request.client = recognise_client(Credentials(request.client_id, request.client_secret))
        tenant = request.headers.get(_TENANT)
        if tenant is not None and not _is_of_tenant(request.client, tenant):
            request.client = None
        if request.client is not None:
            limit(f"tokens of client {request.client.pk}", api_settings.TOKENS_PER_MINUTE)
        return request.client is not None

    def get_default_scopes(self, client_id: str, request: OauthRequest, *args: object, **kwargs: object) -> list[str]:
        return []

    def validate_scopes(
        self,
        client_id: str,
        scopes: list[str],
        client: ApiClient,
        request: OauthRequest,
        *args: object,
        **kwargs: object,
    ) -> bool:
        """An Ed-Fi scope narrows the token to one of the client's own education organizations."""
        scope = " ".join(scopes)
        if scope and not _EDUCATION_ORGANIZATION_ID.fullmatch(scope):
            raise InvalidScopeError(
                "The supplied 'scope' was not a number (it should be an EducationOrganizationId that is explicitly"
                " associated with the client)."
            )
        if scope and int(scope) not in client.application.education_organization_ids:
            raise InvalidScopeError(
                "The client is not explicitly associated with the EducationOrganizationId specified in the requested"
                " 'scope'."
            )
        return True

    def save_bearer_token(self, token: dict[str, Any], request: OauthRequest, *args: object, **kwargs: object) -> None:
        """Store the token, then turn the same dictionary into the response that Ed-Fi clients expect.

        Disabling a client or rotating its secret revokes the tokens that are stored at that time. Locking the client's
        row makes sure that this token is either stored before and revoked with them, or not stored at all.
        """
        if request.client.expires_at:
            left = int((request.client.expires_at - timezone.now()).total_seconds())
            token["expires_in"] = min(token["expires_in"], left)
        with transaction.atomic():
            if not is_still_as_recognised(request.client):
                raise InvalidClientError(request=request)
            super().save_bearer_token(token, request, *args, **kwargs)
        token["token_type"] = _BEARER
        if not token["scope"]:
            del token["scope"]


def _is_of_tenant(client: ApiClient | None, name: str) -> bool:
    tenant = client and client.application.vendor.tenant
    return tenant is not None and tenant.name.casefold() == name.casefold()


class TokenView(OAuthLibMixin, APIView):  # type: ignore[misc]  # the toolkit is untyped
    """`POST /oauth/token`. Rate limits are answered with problem details, as on all other routes."""

    authentication_classes = []
    permission_classes = []
    http_method_names = ["post"]

    def post(self, request: Request) -> HttpResponse:
        if OdsCompatibility.TOKENS.applies and request._request.content_type not in _MEDIA_TYPES:
            raise UnsupportedMediaType(request._request.content_type or "")
        try:
            return self._respond(request._request)
        except OAuth2Error as error:
            return _refuse(error)
        except (DatabaseError, InterfaceError) as error:
            if not is_outage(error):
                raise
            response = _refuse(TemporarilyUnavailableError("The database cannot be reached.", status_code=503))
            response.headers["Retry-After"] = "5"
            return response

    def _respond(self, request: HttpRequest) -> HttpResponse:
        address = remote_address(request)
        limit(f"token requests of {subscriber(address)}", api_settings.TOKEN_REQUESTS_PER_MINUTE)
        token_request = read_token_request(request)
        try:
            body, status = self._issue_token(request, token_request)
        except TooManyRequests:  # The limit per client counts only requests with the right secret.
            request.client_key = token_request.credentials.key  # type: ignore[attr-defined]  # for the logs
            raise
        if status >= 400:
            known = ApiClient.objects.filter(client_id=token_request.credentials.key.replace("\0", "\ufffd"))
            # An unknown key is not logged: it could be a secret sent in the wrong field.
            key = known.values_list("client_id", flat=True).first() or "unknown"
            request.client_key = key  # type: ignore[attr-defined]  # for the logs
            if status == 401:
                audit.log_denial(status=401, reason="invalid_client", client=key, path=request.path, address=address)
        credentials = token_request.credentials
        missing = [] if credentials.secret else ["The secret of the Basic credentials"]
        return _answer(body, status, _hints_of_missing(missing) if missing else _HINTS)

    def _issue_token(self, request: HttpRequest, token_request: TokenRequest) -> tuple[str, int]:
        form = {
            "grant_type": GRANT_TYPE,
            "client_id": token_request.credentials.key,
            "client_secret": token_request.credentials.secret,
            "scope": token_request.scope,
        }
        segments = context_segments(request)
        headers = {_TENANT: segments[0]} if api_settings.MULTI_TENANCY and segments else {}
        _, body, status = self.get_server().create_token_response(request.path, body=form, headers=headers)
        return body, status

    def http_method_not_allowed(  # type: ignore[override]  # Django's response, without a renderer
        self, request: Request, *args: object, **kwargs: object
    ) -> HttpResponse:
        if OdsCompatibility.TOKENS.applies:
            raise MethodNotAllowed(request.method or "")
        response = _refuse(InvalidRequestError("A token is requested with POST.", status_code=405))
        response.headers["Allow"] = "POST"
        return response


def issue_token(request: HttpRequest, credentials: Credentials, scope: str) -> tuple[dict[str, Any], int]:
    """The answer to a request for a token, as RFC 6749 §5 has it, and its status. Raises `TooManyRequests`."""
    body, status = TokenView()._issue_token(request, TokenRequest(credentials, scope))
    return json.loads(body), status


def _refuse(error: OAuth2Error) -> HttpResponse:
    return _answer(error.json, error.status_code, _hints_of(error))


def _hints_of(error: OAuth2Error) -> list[str]:
    match error:
        case CredentialsMissing():
            return _hints_of_missing(error.missing)
        case CredentialsMisplaced():
            return [_MISPLACED]
    return _HINTS


def _hints_of_missing(names: Sequence[str]) -> list[str]:
    return [_MISSING.format(f"{' and '.join(names)} {'was' if len(names) == 1 else 'were'}")]


def _answer(body: str, status: int, hints: Sequence[str] = _HINTS) -> HttpResponse:
    if status == 401:
        body = json.dumps(json.loads(body) | {"hints": list(hints)})
    headers = _HEADERS | _CHALLENGE if status == 401 else _HEADERS
    response = HttpResponse(body, status=status, content_type="application/json", headers=headers)
    if status == 415:
        response.headers["Accept-Encoding"] = ACCEPTED_CODINGS
    if status >= 400:
        response.problem_type = json.loads(body)["error"]  # type: ignore[attr-defined]  # for the request log
    return response


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
    """The names of the profiles that the client is bound by, as they are spelt, also those that do not fit."""
    assigned = Application.objects.filter(api_clients=client.row_id, profiles__in=client.profile_ids)
    return sorted(assigned.values_list("profiles__name", flat=True), key=str.lower)


def _resources(granted: Operations, surface: Surface) -> list[dict[str, object]]:
    by_path = sorted((resource.url_path, claim_name(resource)) for resource in surface.resources)
    return [{"resource": path, "operations": granted[name]} for path, name in by_path if granted.get(name)]


def _services(granted: Operations) -> list[dict[str, object]]:
    names = sorted(name for name in granted if name.startswith(SERVICES) and granted[name])
    return [{"service": name.removeprefix(SERVICES), "operations": granted[name]} for name in names]


@method_decorator([csrf_exempt, never_cache], name="dispatch")
class SecretView(View):
    """GET answers with the page, which shows nothing by itself: programs that preview links must not use them up. Its
    button sends the token, which authenticates the request."""

    http_method_names = ["get", "head", "post"]

    def get(self, request: HttpRequest, **kwargs: Any) -> HttpResponse:
        response = render(request, "edfi_api/secret.html", {"address": base_of(request)})
        response.headers["Content-Security-Policy"] = settings.CONTENT_SECURITY_POLICY
        return response

    def post(self, request: HttpRequest, **kwargs: Any) -> HttpResponse:
        found = take_secret(request.POST.get("token", ""))
        if found is None:
            return JsonResponse({"error": "not found"}, status=404)
        audit.log_change("secret shown by its link", client=found.key, by=f"address:{remote_address(request)}")
        return JsonResponse(found._asdict())
