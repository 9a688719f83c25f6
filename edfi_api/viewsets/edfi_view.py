"""What all data routes share: the steps of Django REST framework, less those that have only one outcome here.

Contents and versions are not negotiated, and answers of documents are finished bytes that need no renderer. The
classes that authenticate, permit, throttle, parse, render and word errors are those named in settings.
"""

from functools import cache
from typing import Any

from django.http import HttpRequest, HttpResponse
from rest_framework.generics import GenericAPIView
from rest_framework.request import Request
from rest_framework.response import Response

from edfi_api.viewsets.exceptions import MethodNotAllowed, ResourceNotFound
from edfi_api.viewsets.responses import FixedHeaders

_VARY = FixedHeaders({"Vary": "Accept"})


class EdFiRequest(Request):
    """DRF's request. What is asked of it most stands in it; everything else is looked up in Django's."""

    def __init__(self, request: HttpRequest, **steps: Any) -> None:
        super().__init__(request, **steps)
        # A circle, which would keep the request and its answer until the garbage collector comes by. No parser asks.
        del self.parser_context["request"]
        self.META = request.META
        self.method = request.method


class EdFiView(GenericAPIView):
    """The methods of the API, and the refusal of all others after authentication.

    HEAD is answered by the method for GET; `meadowlark.wsgi` drops the body.
    """

    http_method_names = ["get", "head", "post", "put", "delete"]
    # Whether the route names one document, or the collection; None where it names neither.
    detail: bool | None = False

    def initialize_request(self, request: HttpRequest, *args: Any, **kwargs: Any) -> EdFiRequest:
        return EdFiRequest(
            request,
            parsers=_instances(tuple(self.parser_classes)),
            authenticators=self.get_authenticators(),
            negotiator=self.get_content_negotiator(),
        )

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        self.perform_authentication(request)
        self.check_permissions(request)
        self.check_throttles(request)

    def perform_authentication(self, request: Request) -> None:
        """At once; DRF's request would do so when it is asked for its user, behind guards that cost as much again."""
        for authenticator in request.authenticators:
            if found := authenticator.authenticate(request):
                request.user, request.auth = found
                return
        request.user = request.auth = None

    def get_content_negotiator(self) -> Any:
        return _instances((self.content_negotiation_class,))[0]

    def get_authenticators(self) -> tuple[Any, ...]:
        return _instances(tuple(self.authentication_classes))

    def get_permissions(self) -> tuple[Any, ...]:
        return _instances(tuple(self.permission_classes))

    def finalize_response(self, request: Request, response: HttpResponse, *args: Any, **kwargs: Any) -> HttpResponse:
        _VARY.add_to(response)
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


@cache
def _instances(classes: tuple[type, ...]) -> tuple[Any, ...]:
    """Made once, not for each request: what they are asked about is handed to them, so they keep nothing."""
    return tuple(each() for each in classes)


class UnknownResourceView(EdFiView):
    """Stands where no resource is: who is not authenticated learns nothing else."""

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        super().initial(request, *args, **kwargs)
        raise ResourceNotFound
