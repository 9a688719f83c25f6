"""What needs no token of the management API: registration, tokens, introspection and revocation at `connect/…`, and
version, health and OpenID configuration."""

import re
from collections.abc import Sequence
from datetime import datetime

from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from oauth2_provider.models import get_access_token_model
from rest_framework.request import Request
from rest_framework.response import Response

from edfi_api.common.conf import api_settings
from edfi_api.common.logs.audit import attribute_to
from edfi_api.common.logs.remote_address import remote_address, subscriber
from edfi_api.core.security.credentials import Credentials, in_basic_header
from edfi_api.core.security.models import ApiClient
from edfi_api.core.security.oauth.token_request import GRANT_TYPE
from edfi_api.core.security.oauth.views import issue_token as issue_data_token
from edfi_api.core.security.rate_limits import limit
from edfi_api.core.security.requests.authentication import forget, token_checksum
from edfi_api.features.management_api import clients, problems, texts
from edfi_api.features.management_api.bodies import (
    NOT_EMPTY,
    BodyRule,
    BodySerializer,
    Text,
    is_empty,
    name_rules,
    read_form,
)
from edfi_api.features.management_api.clients import authenticate
from edfi_api.features.management_api.models import LONGEST_NAME, ManagementToken
from edfi_api.features.management_api.openapi_schema import Address, document
from edfi_api.features.management_api.scopes import Scope
from edfi_api.features.management_api.views import AnonymousView, base_address, write_transaction
from edfi_api.version import VERSION

APPLICATION = "Ed-Fi API Configuration Service"
_SAID_VERSIONS = {"v3": ("3.0", "v3"), "v2": ("2.0", "v2")}
_SPECIAL = "!@#$%^&*()-_=+[]{}:;,.?"
_CLASSES = [re.compile(each) for each in ("[a-z]", "[A-Z]", "[0-9]", f"[{re.escape(_SPECIAL)}]")]


def _is_weak(secret: str | None) -> bool:
    if is_empty(secret) or secret is None:
        return False
    return not 32 <= len(secret) <= 128 or not all(each.search(secret) for each in _CLASSES)


class RegistrationSerializer(BodySerializer):
    """The form of `connect/register`."""

    client_id = Text(*name_rules(LONGEST_NAME))
    client_secret = Text(NOT_EMPTY, BodyRule(_is_weak, texts.TOO_WEAK))
    display_name = Text(*name_rules(LONGEST_NAME))


class ConnectView(AnonymousView):
    """A view without access token, whose requests count against a limit of their address."""

    def initial(self, request: Request, *args: object, **kwargs: object) -> None:
        super().initial(request, *args, **kwargs)
        address = subscriber(remote_address(request._request))
        limit(f"management requests of {address}", api_settings.TOKEN_REQUESTS_PER_MINUTE)


class RegisterView(ConnectView):
    """`POST connect/register`: registers a management client with full access, if the settings permit it."""

    def post(self, request: Request, **_: str) -> Response:
        if not api_settings.MANAGEMENT_REGISTRATION:
            raise problems.forbidden(texts.REGISTRATION_CLOSED)
        form = RegistrationSerializer().read(read_form(request._request))
        key = form["client_id"].strip()
        with write_transaction({"management_client_once_in_any_case": ("ClientId", texts.CLIENT_TAKEN)}):
            attribute_to(key)
            clients.create(key, form["display_name"], [Scope.FULL_ACCESS], secret=form["client_secret"], by=key)
        return Response({"title": f"Registered client {key} successfully.", "status": 200})


class ManagementTokenView(ConnectView):
    """`POST connect/token`: a token of a management client, or of an API client for data."""

    def post(self, request: Request, **_: str) -> Response:
        fields = _with_header(request._request, read_form(request._request))
        empty = {
            key: [texts.EMPTY.format(name=key)]
            for key in ("client_id", "client_secret", "grant_type")
            if is_empty(fields.get(key.replace("_", "")))
        }
        if empty:
            raise problems.invalid_data(empty)
        if fields["granttype"] != GRANT_TYPE:
            raise problems.bad_request(texts.NO_GRANT_TYPE)
        credentials = Credentials(fields["clientid"], fields["clientsecret"])
        return Response(_issue(request._request, credentials, fields.get("scope", "")))


def _with_header(request: HttpRequest, fields: dict[str, str]) -> dict[str, str]:
    """The fields, with the credentials of a Basic header."""
    try:
        found = in_basic_header(request.META.get("HTTP_AUTHORIZATION", ""))
    except ValueError:
        raise problems.unauthenticated(texts.UNKNOWN_CLIENT) from None
    return fields if found is None else fields | {"clientid": found.key, "clientsecret": found.secret}


def _issue(request: HttpRequest, credentials: Credentials, scope: str) -> dict[str, object]:
    key = credentials.stored_key
    api_client = ApiClient.objects.select_related("application").filter(client_id=key).first()
    issued = (
        _management_token(request, credentials, scope)
        if api_client is None
        else _data_token(request, api_client, credentials, scope)
    )
    if issued is not None:
        return issued
    known = api_client or clients.client_of_key(key)
    if known is not None:
        # An unknown key is not logged: it could be a secret in the wrong field.
        request.client_key = key  # type: ignore[attr-defined]  # for the logs
    # One that is disabled or has expired is not distinguished from an unknown one.
    is_usable = known.is_usable(request) if isinstance(known, ApiClient) else known is not None and known.is_active
    says_which = is_usable and not api_settings.UNIFORM_CLIENT_ERRORS
    raise problems.unauthenticated(texts.WRONG_SECRET if says_which else texts.UNKNOWN_CLIENT)


def _management_token(request: HttpRequest, credentials: Credentials, scope: str) -> dict[str, object] | None:
    client = clients.recognise(credentials)
    if client is None:
        return None
    request.client_key = client.key  # type: ignore[attr-defined]  # for the logs
    limit(f"tokens of management client {client.pk}", api_settings.TOKENS_PER_MINUTE)
    try:
        issued = clients.issue_token(client, scope)
    except clients.NoScope:
        raise problems.bad_request(errors=[texts.NO_SCOPE]) from None
    if issued is None:
        return None
    return {
        "access_token": issued.token,
        "expires_in": issued.seconds,
        "token_type": "Bearer",
        "scope": " ".join(issued.scopes),
    }


def _data_token(
    request: HttpRequest, client: ApiClient, credentials: Credentials, scope: str
) -> dict[str, object] | None:
    """Issue a token as the token endpoint of the data API does; the name of the claim set may be requested as scope."""
    wanted = "" if scope.strip().lower() == client.application.claim_set_name.lower() else scope.strip()
    body, status = issue_data_token(request, credentials, wanted)
    if status == 401:
        return None
    if status != 200:
        raise problems.bad_request(str(body.get("error_description") or body["error"]))
    return {"access_token": body["access_token"], "expires_in": body["expires_in"], "token_type": "Bearer"}


class IntrospectView(ConnectView):
    """`POST connect/introspect` (RFC 7662), for the bearer of a management token."""

    def post(self, request: Request, **_: str) -> Response:
        authenticate(request._request)
        token = _the_token(request._request)
        issuer = base_address(request._request)
        found = clients.find_token(token)
        if found is not None:
            scope = " ".join(found.scopes)
            return Response(_claims(found.client.key, scope, found.issued_at, found.expires_at, issuer))
        data_token = _data_token_row(token)
        return Response({"active": False} if data_token is None else _data_claims(data_token, issuer))


class RevokeView(ConnectView):
    """`POST connect/revoke` (RFC 7009): the possession of a token suffices to revoke it."""

    def post(self, request: Request, **_: str) -> Response:
        token = _the_token(request._request)
        ManagementToken.objects.filter(checksum=token_checksum(token)).delete()
        get_access_token_model().objects.filter(token_checksum=token_checksum(token)).delete()
        forget(token)
        return Response(status=200)


def _the_token(request: HttpRequest) -> str:
    token = read_form(request).get("token", "")
    if is_empty(token):
        raise problems.bad_request(texts.NO_TOKEN)
    return token


def _claims(key: str, scope: str, issued: datetime, expires: datetime, issuer: str) -> dict[str, object]:
    """Return what introspection says about every valid token."""
    return {
        "active": True,
        "client_id": key,
        "scope": scope,
        "exp": int(expires.timestamp()),
        "iat": int(issued.timestamp()),
        "sub": key,
        "aud": issuer,
        "iss": issuer,
        "token_type": "Bearer",
    }


def _data_token_row(token: str):  # type: ignore[no-untyped-def]  # the toolkit is untyped
    rows = get_access_token_model().objects.select_related("application__application__vendor")
    found = rows.filter(
        token_checksum=token_checksum(token), expires__gt=timezone.now(), application__isnull=False
    ).first()
    return found if found is not None and found.application.is_usable(None) else None


def _data_claims(token, issuer: str) -> dict[str, object]:  # type: ignore[no-untyped-def]  # the toolkit is untyped
    client = token.application
    application = client.application
    return {
        **_claims(client.client_id, application.claim_set_name, token.created, token.expires, issuer),
        "namespacePrefixes": ",".join(application.vendor.namespace_prefixes),
        "educationOrganizationIds": ",".join(map(str, application.education_organization_ids)),
    }


class InformationView(AnonymousView):
    """`GET /`"""

    def get(self, request: Request) -> Response:
        version, specification = _SAID_VERSIONS[api_settings.MANAGEMENT_VERSION]
        return Response(
            {
                "version": version,
                "applicationName": APPLICATION,
                "informationalVersion": f"Meadowlark {VERSION}",
                "build": f"{version}.0.0",
                "urls": {"openApiMetadata": f"{base_address(request._request)}/metadata/specifications"},
                "specificationVersion": specification,
            }
        )


class ManagementHealthView(AnonymousView):
    """`GET /health`: the process answers. Whether the database does is the server's own health."""

    def get(self, request: Request) -> HttpResponse:
        return HttpResponse("Healthy", content_type="text/plain")


class OpenIdView(AnonymousView):
    """`GET /.well-known/openid-configuration`, for programs that look up where tokens are requested."""

    def get(self, request: Request) -> Response:
        base = base_address(request._request)
        return Response(
            {
                "issuer": base,
                "token_endpoint": f"{base}/connect/token",
                "registration_endpoint": f"{base}/connect/register",
                "introspection_endpoint": f"{base}/connect/introspect",
                "revocation_endpoint": f"{base}/connect/revoke",
                "jwks_uri": f"{base}/.well-known/jwks.json",
                "grant_types_supported": ["client_credentials"],
                "token_endpoint_auth_methods_supported": ["client_secret_post", "client_secret_basic"],
                "scopes_supported": list(Scope),
            }
        )


class JwksView(AnonymousView):
    """`GET /.well-known/jwks.json`: tokens are opaque, so there are no keys."""

    def get(self, request: Request) -> Response:
        return Response({"keys": []})


class SpecificationView(AnonymousView):
    """`GET metadata/specifications`: the OpenAPI document, which is the same for all clients."""

    addresses: Sequence[Address] = ()

    def get(self, request: Request) -> Response:
        described = [each for each in self.addresses if each.is_served]
        return Response(document(described, base_address(request._request)))
