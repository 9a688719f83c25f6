"""The token endpoint, the admin, and a protected route that returns the identity of the caller."""

from django.contrib import admin
from django.urls import include, path
from rest_framework.renderers import JSONRenderer
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from edfi_api.core.security.exceptions import AuthenticationFailed
from edfi_api.core.security.requests.authentication import BearerTokenAuthentication, IsApiClient


class CallerView(APIView):
    authentication_classes = [BearerTokenAuthentication]
    permission_classes = [IsApiClient]
    renderer_classes = [JSONRenderer]

    def get(self, request: Request) -> Response:
        caller = request.user
        return Response(
            {
                "key": caller.key,
                "name": caller.name,
                "claimSet": caller.claim_set_name,
                "educationOrganizationIds": caller.education_organization_ids,
                "namespacePrefixes": caller.namespace_prefixes,
            }
        )

    def get_exception_handler(self):
        return _show_reason


def _show_reason(error: Exception, context: dict) -> Response | None:
    return Response({"reason": error.reason}, status=401) if isinstance(error, AuthenticationFailed) else None


admin.autodiscover()
urlpatterns = [
    path("admin/", admin.site.urls),
    path("who-am-i", CallerView.as_view()),
    path("", include("edfi_api.core.security.oauth.urls")),
]
