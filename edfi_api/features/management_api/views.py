"""What all views of the management API have in common: access, errors, headers, and the actions of a collection."""

import logging
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, ClassVar

from django.db import IntegrityError, connection, transaction
from django.db.models import Model, QuerySet
from django.http import HttpRequest
from psycopg import errors as postgres
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView
from rest_framework.viewsets import GenericViewSet

from edfi_api.common.addresses import base_of
from edfi_api.common.conf import api_settings
from edfi_api.common.logs import audit
from edfi_api.common.logs.audit import attribute_to
from edfi_api.common.logs.remote_address import remote_address
from edfi_api.core.data_stores.models import Tenant
from edfi_api.features.management_api import clients, problems, texts
from edfi_api.features.management_api.bodies import BodySerializer, integer, read_object
from edfi_api.features.management_api.clients import Caller
from edfi_api.features.management_api.listing import UNFILTERED, Listing, ListingFilter, ListingPagination
from edfi_api.features.management_api.openapi_schema import ManagementSchema
from edfi_api.web.problem_details.exception_handler import correlation_id
from edfi_api.web.viewsets.responses import EdFiJsonRenderer, NoNegotiation

_log = logging.getLogger(__name__)

_HEADERS = {"Cache-Control": "no-store", "X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer"}

# The refusal by a constraint of the database: the member and the text, which may have `{…}` of the values of the
# body; or the whole refusal.
Refusals = Mapping[str, tuple[str, str] | problems.RequestRefused]


@contextmanager
def write_transaction(refusals: Refusals | None = None, values: Mapping[str, Any] | None = None) -> Iterator[None]:
    """A transaction at whose end deferred constraints are checked. A broken one raises the RequestRefused of its
    name, or IntegrityError."""
    try:
        with transaction.atomic():
            yield
            with connection.cursor() as cursor:
                cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
                cursor.execute("SET CONSTRAINTS ALL DEFERRED")
    except IntegrityError as error:
        cause = error.__cause__
        name = cause.diag.constraint_name if isinstance(cause, postgres.IntegrityError) else None
        refusal = (refusals or {}).get(name or "")
        if refusal is None:
            raise
        # A new one: exceptions of concurrent requests must not share their tracebacks.
        if isinstance(refusal, problems.RequestRefused):
            raise problems.RequestRefused(refusal.problem) from error
        raise problems.invalid_data({refusal[0]: [refusal[1].format(**(values or {}))]}) from error


class AnonymousView(APIView):
    """A view without authentication; a broken `Authorization` header is ignored."""

    authentication_classes = []
    permission_classes = []
    renderer_classes = [EdFiJsonRenderer]
    content_negotiation_class = NoNegotiation
    # The version whose form errors have.
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
        """Answer a preflight; whether the origin may go on is said by the headers of CORS."""
        if "HTTP_ORIGIN" not in request.META:
            raise problems.refused("method", headers={"Allow": ", ".join(self.allowed_methods)})
        return Response(status=204)

    def http_method_not_allowed(  # type: ignore[override]  # DRF passes its own request.
        self, request: Request, *args: Any, **kwargs: Any
    ) -> Response:
        raise problems.refused("method", headers={"Allow": ", ".join(self.allowed_methods)})

    def handle_exception(self, error: Exception) -> Response:
        problem = problems.problem_for(error)
        if problem is None:
            _log.error("answered 500: %s", self.request.path, exc_info=error)
            problem = problems.refused("error").problem
        if problem.status in audit.DENIALS:
            self._audit_denial(problem.status, problem.audit_reason or next(iter(problem.errors), problem.detail))
        return problems.answer(problem, correlation_id(self.request._request), self.version)

    @property
    def allowed_methods(self) -> list[str]:
        """Return the methods of the header `Allow`."""
        return [method for method in super().allowed_methods if method != "OPTIONS"]

    def _audit_denial(self, status: int, reason: str) -> None:
        request: HttpRequest = self.request._request
        audit.log_denial(
            status=status,
            reason=reason,
            client=getattr(request, "client_key", None),
            method=request.method,
            path=request.path,
            address=remote_address(request),
        )


class UnknownAddressView(AnonymousView):
    """Every other path of the management API."""

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        raise problems.not_found()


class ManagementViewSet(AnonymousView, GenericViewSet[Any]):
    """Views for management clients. `caller` and `tenant` are those of the request."""

    schema = ManagementSchema()
    filter_backends = [ListingFilter]
    pagination_class = ListingPagination
    lookup_url_kwarg = "id"

    # The router sets both, as `vendors` of `v3`.
    address: ClassVar[str] = ""
    has_tenants: ClassVar[bool] = True
    serializer_class: Any = None
    # Actions that the scope of authorization metadata allows.
    metadata_actions: ClassVar[frozenset[str]] = frozenset()
    listing: Listing = UNFILTERED
    # The serializers of bodies and items that are others than `serializer_class`, by action.
    action_serializers: ClassVar[Mapping[str, type[BodySerializer]]] = {}
    # For the OpenAPI document, by action: the status, and the serializer or the schema of an answer that is neither
    # empty nor made of items.
    action_answers: ClassVar[Mapping[str, tuple[int, Any]]] = {}
    caller: Caller
    tenant: Tenant | None

    @classmethod
    def is_served(cls) -> bool:
        """Return whether the settings of this server let the addresses exist; others are not described."""
        return True

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        super().initial(request, *args, **kwargs)
        if request.method == "OPTIONS":
            return
        self.tenant = clients.tenant_of(request._request) if self.has_tenants else None
        self.caller = clients.authenticate(request._request)
        is_metadata = self.action in self.metadata_actions
        clients.authorize(self.caller, request.method or "", is_authorization_metadata=is_metadata)

    def get_serializer_class(self) -> type[BodySerializer]:
        return self.action_serializers.get(self.action) or self.serializer_class

    def get_serializer_context(self) -> dict[str, Any]:
        """Return whether the body is that of a PUT, and whether it repeats the id of the address."""
        is_change = self.action == "update"
        id_ = self.kwargs.get("id") if hasattr(self, "kwargs") else None
        return {
            "view": self,
            "request": self.request,
            "is_change": is_change,
            "repeats_id": is_change and self.version == "v3",
            "id": integer(id_) if is_change and id_ else None,
        }

    def read(self) -> tuple[Any, dict[str, Any]]:
        """The serializer of the body, and the values in it. Raises RequestRefused."""
        serializer: Any = self.get_serializer()
        return serializer, serializer.read(read_object(self.request._request))

    def listed(self, rows: Any) -> Response:
        """The page of the rows, or of items that are no rows, that the request selects."""
        page = self.paginate_queryset(self.filter_queryset(rows))
        data = page if isinstance(rows, list) else self.get_serializer(page, many=True).data
        answer: Response = self.get_paginated_response(data)
        return answer

    def missing(self, number: int | str | None = None) -> problems.RequestRefused:
        """The refusal of an item that does not exist."""
        if self.version == "v2":
            name, _ = texts.V2.NAMES[self.address]
            return problems.not_found(texts.V2.NOT_FOUND.format(name=name, id=number))
        return problems.not_found(texts.NOT_FOUND[self.address].format(id=number))

    @property
    def by(self) -> str:
        """Return who is responsible, for the audit log."""
        return self.caller.name

    @contextmanager
    def write_transaction(self, refusals: Refusals | None = None, values: Any = None) -> Iterator[None]:
        """`write_transaction`, with the client in the columns of what is written."""
        with write_transaction(refusals, values):
            attribute_to(self.by)
            yield

    def audit(self, event: str, **facts: object) -> None:
        """Log a change. Facts are ids and names of members, never values."""
        audit.log_change(
            event,
            **facts,
            by=self.by,
            tenant=self.tenant and self.tenant.name,
            address=remote_address(self.request._request),
        )

    def located(self, number: int, body: object = None, status: int = 201) -> Response:
        """The answer to a POST of the item with this id."""
        location = f"{base_address(self.request._request)}/{self.version}/{self.address}/{number}"
        return Response(body, status=status, headers={"Location": location})

    def changed(self) -> Response:
        return Response(status=200 if self.version == "v2" else 204)


class ListViewSet(ManagementViewSet):
    """A collection of rows that is read."""

    def get_queryset(self) -> QuerySet[Any]:
        """The rows that exist for the tenant, with all that their serializer needs."""
        raise NotImplementedError

    def complete(self, row: Any) -> Any:
        """Return the row with what only its own page shows."""
        return row

    def found(self, id_: str | int, *, for_update: bool = False) -> Any:
        """The item with this id. Raises RequestRefused."""
        number = integer(id_)
        if for_update:
            self.get_queryset().model._default_manager.select_for_update(no_key=True).filter(pk=number).first()
        row = self.get_queryset().filter(pk=number).first()
        if row is None:
            raise self.missing(number)
        return row

    def list(self, request: Request, **_: str) -> Response:
        return self.listed(self.get_queryset())

    def retrieve(self, request: Request, id: str) -> Response:
        return Response(self.item(self.found(id)))

    def item(self, row: Any) -> dict[str, Any]:
        """The item by itself."""
        found: dict[str, Any] = self.serializer_class(self.complete(row)).data
        return found


class CreateViewSet(ListViewSet):
    """A collection to which a POST adds an item."""

    # The name of an item in events of the audit log.
    noun: ClassVar[str]
    refusals: ClassVar[Refusals] = {}

    def add(self, serializer: Any, values: dict[str, Any]) -> Response:
        """Store a new item."""
        raise NotImplementedError

    def create(self, request: Request) -> Response:
        serializer, values = self.read()
        with self.write_transaction(self.refusals, values):
            return self.add(serializer, values)

    def created(self, row: Model | int, body: object = None, status: int = 201, **audited: object) -> Response:
        """The answer to a POST, logged."""
        number = row.pk if isinstance(row, Model) else row
        self.audit(f"{self.noun} {'created' if status == 201 else 'changed'}", id=number, **audited)
        return self.located(number, body, status)


class CollectionViewSet(CreateViewSet):
    """A collection with all actions: list, item, POST, PUT and DELETE."""

    def secrets(self, row: Any) -> dict[str, Any]:
        """Return what an item does not show, or not whole, by which a PUT finds the members that it has changed."""
        return {}

    def change(self, row: Any, serializer: Any, values: dict[str, Any]) -> None:
        """Replace an item."""
        raise NotImplementedError

    def remove(self, row: Any) -> None:
        row.delete()

    def update(self, request: Request, id: str) -> Response:
        number = integer(id)
        serializer, values = self.read()
        with self.write_transaction(self.refusals, values):
            row = self.found(number, for_update=True)
            before = self._whole(row)
            self.change(row, serializer, values)
            after = self._whole(self.found(number))
            changed = [name for name in after if after[name] != before[name]]
            self.audit(f"{self.noun} changed", id=number, members=",".join(changed) or None)
        return self.changed()

    def destroy(self, request: Request, id: str) -> Response:
        number = integer(id)
        with self.write_transaction(self.refusals):
            self.remove(self.found(number, for_update=True))
            self.audit(f"{self.noun} removed", id=number)
        return self.removed()

    def removed(self) -> Response:
        if self.version == "v2":
            return Response({"title": texts.V2.DELETED.format(name=texts.V2.NAMES[self.address][1])})
        return Response(status=204)

    def _whole(self, row: Any) -> dict[str, Any]:
        return self.item(row) | self.secrets(row)


def assign(row: Model, values: Mapping[str, Any]) -> list[str]:
    """Set columns of a row, and return their names."""
    for column, value in values.items():
        setattr(row, column, value)
    return list(values)


def base_address(request: HttpRequest) -> str:
    """The address of the management API, without a trailing slash."""
    path = api_settings.MANAGEMENT_PATH.strip("/")
    if not path or not request.path_info.lower().startswith(f"/{path.lower()}"):
        return base_of(request)
    return f"{base_of(request)}/{path}"
