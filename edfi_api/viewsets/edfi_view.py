"""What all data routes share: the steps of Django REST framework, less those that have only one outcome here.

Contents and versions are not negotiated, and answers of documents are finished bytes that need no renderer. The
classes that authenticate, permit, throttle, parse, render and word errors are those named in settings.
"""

from typing import Any

from django.http import HttpResponse
from rest_framework.generics import GenericAPIView
from rest_framework.request import Request
from rest_framework.response import Response

from edfi_api.viewsets.exceptions import MethodNotAllowed, ResourceNotFound


class EdFiView(GenericAPIView):
    """The four methods, and the refusal of all others after authentication."""

    http_method_names = ["get", "post", "put", "delete"]
    # Whether the route names one document, or the collection; None where it names neither.
    detail: bool | None = False

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        self.perform_authentication(request)
        self.check_permissions(request)
        self.check_throttles(request)

    def finalize_response(self, request: Request, response: HttpResponse, *args: Any, **kwargs: Any) -> HttpResponse:
        response.headers["Vary"] = "Accept"
        if isinstance(response, Response):
            return super().finalize_response(request, response, *args, **kwargs)
        return response

    @property
    def default_response_headers(self) -> dict[str, str]:
        """None beyond those of `finalize_response`."""
        return {}

    def raise_uncaught_exception(self, exc: Exception) -> None:
        """To Django, which logs it. DRF would first ask the renderer how to show it."""
        raise exc

    def http_method_not_allowed(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        allowed = [method for method in self.allowed_methods if method != "OPTIONS"]
        raise MethodNotAllowed(request.method, is_item=self.detail, allowed=allowed)


class UnknownResourceView(EdFiView):
    """Stands where no resource is: who is not authenticated learns nothing else."""

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        super().initial(request, *args, **kwargs)
        raise ResourceNotFound
