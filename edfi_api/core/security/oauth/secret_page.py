"""The page that shows the secret of a client one time, to whoever has its link."""

from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.utils.decorators import method_decorator
from django.views import View
from django.views.decorators.cache import never_cache
from django.views.decorators.csrf import csrf_exempt

from edfi_api.common.addresses import base_of
from edfi_api.common.logs import audit
from edfi_api.common.logs.remote_address import remote_address
from edfi_api.core.security.secret_links import take_secret


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
        audit.administered("secret shown by its link", client=found.key, by=f"address:{remote_address(request)}")
        return JsonResponse(found._asdict())
