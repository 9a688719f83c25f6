"""What the management API publishes without authentication: version, health, OpenID configuration."""

from django.http import HttpResponse
from rest_framework.request import Request
from rest_framework.response import Response

from edfi_api.common.conf import api_settings
from edfi_api.features.management_api.scopes import Scope
from edfi_api.features.management_api.views import AnonymousView, base_address
from edfi_api.version import VERSION

APPLICATION = "Ed-Fi API Configuration Service"
_SAID_VERSIONS = {"v3": ("3.0", "v3"), "v2": ("2.0", "v2")}


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
