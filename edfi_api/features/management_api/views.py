"""What all views of the management API have in common: access, errors, headers."""

import logging
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, ClassVar

from django.http import HttpRequest
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView
from rest_framework.viewsets import ViewSetMixin

from edfi_api.common.addresses import base_of
from edfi_api.common.conf import api_settings
from edfi_api.common.logs import audit
from edfi_api.common.logs.attribution import attribute_to
from edfi_api.common.logs.remote_address import remote_address
from edfi_api.core.data_stores.models import Tenant
from edfi_api.features.management_api import access, problems
from edfi_api.features.management_api.access import Caller
from edfi_api.features.management_api.answer_shapes import DescribedAnswer
from edfi_api.features.management_api.answers import FORMS, answer, problem_for, write_transaction
from edfi_api.web.problem_details.http.handler import correlation_id
from edfi_api.web.viewsets.responses import EdFiJsonRenderer, NoNegotiation

_log = logging.getLogger(__name__)

_HEADERS = {"Cache-Control": "no-store", "X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer"}


class AnonymousView(APIView):
    """A view without authentication; a broken `Authorization` header is ignored."""

    authentication_classes = []
    permission_classes = []
    renderer_classes = [EdFiJsonRenderer]
    content_negotiation_class = NoNegotiation
    # Of the form of errors.
    version: ClassVar[str] = "v3"

    def finalize_response(self, request: Request, response: Response, *args: Any, **kwargs: Any) -> Response:
        finished = super().finalize_response(request, response, *args, **kwargs)
        for name, value in _HEADERS.items():
            finished.headers[name] = value
        finished.headers["TraceId"] = correlation_id(request._request)
        return finished

    def options(  # type: ignore[override]  # DRF passes its own request.
        self, request: Request, *args: Any, **kwargs: Any
    ) -> Response:
        """A preflight is answered; whether the origin may go on is said by the headers of CORS."""
        if "HTTP_ORIGIN" not in request.META:
            raise problems.method_not_allowed(self.allowed_methods)
        return Response(status=204)

    def http_method_not_allowed(  # type: ignore[override]  # DRF passes its own request.
        self, request: Request, *args: Any, **kwargs: Any
    ) -> Response:
        raise problems.method_not_allowed(self.allowed_methods)

    def handle_exception(self, error: Exception) -> Response:
        problem = problem_for(error)
        if problem is None:
            _log.error("answered 500: %s", self.request.path, exc_info=error)
            problem = problems.internal_error().problem
        if problem.status in audit.DENIALS:
            reason = problem.audit_reason or next(iter(problem.errors), problem.detail)
            self._audit_denial(problem.status, reason)
        return answer(problem, correlation_id(self.request._request), FORMS[self.version])

    @property
    def allowed_methods(self) -> list[str]:
        """Those of the header `Allow`."""
        return [method for method in super().allowed_methods if method != "OPTIONS"]

    def _audit_denial(self, status: int, reason: str) -> None:
        request: HttpRequest = self.request._request
        audit.denied(
            status=status,
            reason=reason,
            client=getattr(request, "client_key", None),
            method=request.method,
            path=request.path,
            address=remote_address(request),
        )


class ManagementView(AnonymousView):
    """A view for management clients. `caller` and `tenant` are those of the request."""

    # Whether reading is allowed with the scope of authorization metadata.
    is_authorization_metadata = False
    has_tenants = True
    # By action or method, for the OpenAPI document: the answers that are neither empty nor made of items.
    answers: ClassVar[Mapping[str, DescribedAnswer]] = {}
    caller: Caller
    tenant: Tenant | None

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        super().initial(request, *args, **kwargs)
        if request.method == "OPTIONS":
            return
        self.tenant = access.tenant_of(request._request) if self.has_tenants else None
        self.caller = access.authenticate(request._request)
        access.authorize(
            self.caller, request.method or "", is_authorization_metadata=self.is_open_to_authorization_metadata()
        )

    def is_open_to_authorization_metadata(self) -> bool:
        return self.is_authorization_metadata

    @property
    def by(self) -> str:
        """Who is responsible, in the audit log."""
        return self.caller.name

    @contextmanager
    def write_transaction(self, refusals: Mapping[str, problems.RequestRefused] | None = None) -> Iterator[None]:
        """`answers.write_transaction`, with the client in the columns of what is written."""
        with write_transaction(refusals):
            attribute_to(self.by)
            yield

    def audit(self, event: str, **facts: object) -> None:
        """Log a change. Facts are ids and names of members, never values."""
        audit.administered(
            event,
            **facts,
            by=self.by,
            tenant=self.tenant and self.tenant.name,
            address=remote_address(self.request._request),
        )


class ManagementViewSet(ViewSetMixin, ManagementView):
    """The same, with actions."""


class UnknownAddressView(AnonymousView):
    """Every other path of the management API."""

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        raise problems.not_found()


def base_address(request: HttpRequest) -> str:
    """The address of the management API, without a trailing slash."""
    path = api_settings.MANAGEMENT_PATH.strip("/")
    if not path or not request.path_info.lower().startswith(f"/{path.lower()}"):
        return base_of(request)
    return f"{base_of(request)}/{path}"
