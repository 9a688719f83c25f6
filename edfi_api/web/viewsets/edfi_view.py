"""The base views of all data routes: Django REST framework's dispatch without the steps that this API does not need.

There is no content negotiation and no versioning, and responses with documents are ready bytes without a renderer.
Authentication, permission, throttle, parser, renderer and exception handler classes are those of the settings.
"""

from functools import cache
from typing import Any, Never, cast

from django.db import ProgrammingError
from django.http import Http404, HttpRequest
from django.http.response import HttpResponseBase
from rest_framework.generics import GenericAPIView
from rest_framework.request import Empty, Request
from rest_framework.response import Response

from edfi_api.common.conf import api_settings
from edfi_api.core.data_stores.access import DEFAULT_LEASE, Lease
from edfi_api.core.models import Document
from edfi_api.core.queries.pagination import EdFiPagination
from edfi_api.core.security.claim_names import Action
from edfi_api.core.security.exceptions import UNAUTHORIZABLE
from edfi_api.core.security.requests.authorization import ACTIONS, Authorization, authorize, refusal_behind, row_policy
from edfi_api.core.security.requests.data_stores import USE_SNAPSHOT, lease_of
from edfi_api.model.surface.resource import Resource, ResourceName, Surface
from edfi_api.web.problem_details.exception_handler import client_error
from edfi_api.web.problem_details.http_exceptions import MethodNotAllowed, ResourceNotFound
from edfi_api.web.viewsets.responses import PRIVATE, FixedHeaders

_WRITING = frozenset({"POST", "PUT", "PATCH", "DELETE"})


class EdFiRequest(Request):
    """DRF's request with the most used attributes of Django's request copied, which saves a `__getattr__` call each.

    Sets the attributes that DRF's constructor sets, without calling it: it looks for settings of tests, and makes a
    reference cycle, which would keep request and response alive until the next garbage collection.
    """

    # In place of DRF's properties, which authenticate at the first access: views have done so before.
    user: Any = None
    auth: Any = None
    # The classes of the settings make these.
    parsers: Any

    def __init__(self, request: HttpRequest, parsers: Any, authenticators: Any, negotiator: Any) -> None:
        self._request = request
        self.META = request.META
        self.method = request.method
        self.parsers = parsers
        self.authenticators = authenticators
        self.negotiator = negotiator
        # No parser uses it.
        self.parser_context = {}
        self._data = self._files = self._full_data = self._content_type = self._stream = Empty  # type: ignore[assignment]


class EdFiView(GenericAPIView[Document]):
    """Allows the methods of the API; all others are refused after authentication.

    HEAD is handled by the method for GET; `meadowlark.wsgi` drops the body.
    """

    # The class of the settings.
    paginator: EdFiPagination

    http_method_names = ["get", "head", "post", "put", "delete"]
    # The alias of the database with the client's documents, from `initial` on.
    using: str
    lease: Lease = DEFAULT_LEASE
    # The headers of every answer. What a client may read is no one else's, and no cache keeps it.
    fixed_headers = FixedHeaders(PRIVATE)
    # True if the route is that of a single document, False for a collection, None for others.
    detail: bool | None = False

    def initialize_request(self, request: HttpRequest, *args: Any, **kwargs: Any) -> EdFiRequest:
        return EdFiRequest(
            request,
            parsers=_instances(tuple(self.parser_classes)),
            authenticators=_instances(tuple(self.authentication_classes)),
            negotiator=_instances((self.content_negotiation_class,))[0],
        )

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        self.perform_authentication(request)
        self.choose_database(request)
        self.check_permissions(request)
        if self.throttle_classes:
            self.check_throttles(request)

    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> Any:
        try:
            return super().dispatch(request, *args, **kwargs)
        finally:
            if self.lease is not DEFAULT_LEASE:
                self.lease.end()

    def handle_exception(self, exc: Exception) -> Response:
        self.lease.note_failure(exc)
        return super().handle_exception(exc)

    def choose_database(self, request: Any) -> None:
        """Set `using`. Raises what `lease_of` does, which comes before everything else after authentication."""
        if request.user.uses_data_stores or not api_settings.has_main_store or USE_SNAPSHOT in request.META:
            self.lease = lease_of(request.user, request, is_write=request.method in _WRITING)
        self.using = self.lease.using

    def perform_authentication(self, request: Any) -> None:
        """Authenticates immediately. DRF does it at the first access to `request.user`, through wrappers that take as
        long as the authentication itself."""
        for authenticator in request.authenticators:
            if found := authenticator.authenticate(request):
                request.user, request.auth = found
                return
        request.user = request.auth = None

    def get_content_negotiator(self) -> Any:
        return _instances((self.content_negotiation_class,))[0]

    def get_authenticators(self) -> Any:
        return _instances(tuple(self.authentication_classes))

    def get_permissions(self) -> Any:
        return _instances(tuple(self.permission_classes))

    def finalize_response(self, request: Request, response: Any, *args: Any, **kwargs: Any) -> Any:
        self.fixed_headers.add_to(response)
        if isinstance(response, Response):
            return super().finalize_response(request, response, *args, **kwargs)
        return response

    @property
    def default_response_headers(self) -> dict[str, str]:
        """Return no headers: `finalize_response` adds them."""
        return {}

    def raise_uncaught_exception(self, exc: Exception) -> Never:
        """Raises to Django, which logs the error, without DRF's special cases for renderers."""
        raise exc

    def http_method_not_allowed(self, request: Any, *args: Any, **kwargs: Any) -> Response:
        allowed = [method for method in self.allowed_methods if method != "OPTIONS"]
        raise MethodNotAllowed(request.method, is_item=self.detail, allowed=allowed)


class AuthorizedView(EdFiView):
    """A view of documents of one resource; `action` is the name of the requested action. It authorizes itself, at the
    point that the order of checks requires (meadowlark/docs/reference/contract.md#order-of-checks)."""

    action: str
    resource: Resource
    surface: Surface

    def authorize(self, request: EdFiRequest) -> Authorization:
        """Return what the client may do. Raises what the permission classes of the settings and the claim set
        refuse."""
        self.check_permissions(request)
        return authorize(request.user, self.resource, ACTIONS[self.action], self.surface, self.using)

    def reads_all(self, name: ResourceName) -> bool:
        """Return whether the client may read every document of the resource with this name."""
        resource, client = self.surface.by_name[name], cast(EdFiRequest, self.request).user
        try:
            return row_policy(client, resource, Action.READ, self.surface, self.using) is None
        except UNAUTHORIZABLE:
            return False

    def handle_exception(self, exc: Exception) -> Response:
        """Handle an exception as DRF does; an error in the SQL of a custom view is reported as such."""
        if isinstance(exc, ProgrammingError):
            client = cast(EdFiRequest, self.request).user
            exc = refusal_behind(client, self.resource, ACTIONS[self.action], self.surface, self.using) or exc
        return super().handle_exception(exc)


class OpenView(EdFiView):
    """Needs no token; methods other than GET and HEAD are refused as on the data routes."""

    authentication_classes = []
    permission_classes = []
    detail = None
    fixed_headers = FixedHeaders({"Vary": "Accept"})

    def choose_database(self, request: Any) -> None:
        """Choose none: what these routes read is the same for all data stores, or in the admin database."""


class OpenPageView(OpenView):
    """A page for people. Where there is none, browsers get one that says so; other errors are as in every view."""

    def handle_exception(self, error: Exception) -> HttpResponseBase:  # type: ignore[override]
        if isinstance(error, Http404 | ResourceNotFound):
            return client_error(self.request._request, error)
        return super().handle_exception(error)


class UnknownResourceView(EdFiView):
    """The view of unknown paths: 401 without authentication, otherwise 404."""

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        super().initial(request, *args, **kwargs)
        raise ResourceNotFound


@cache
def _instances(classes: tuple[type, ...]) -> tuple[Any, ...]:
    """Created once instead of per request: these classes are stateless."""
    return tuple(each() for each in classes)
