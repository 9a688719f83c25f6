"""An operation as the single request that does the same: through the viewset of its resource.

So it has the same checks in the same order, the same effects and the same refusals, whatever the viewsets do.
"""

import logging
from collections.abc import Callable, Iterable, Sequence
from copy import copy
from typing import Any
from uuid import UUID

from django.db import ProgrammingError
from django.http import HttpRequest, HttpResponse, QueryDict
from uuid_utils.compat import uuid7

from edfi_api import addresses
from edfi_api.api.batch.operations import Kind, Operation, Result
from edfi_api.api.viewsets.edfi_view import EdFiRequest
from edfi_api.api.viewsets.factory import ServedSurface, viewset_class
from edfi_api.api.viewsets.handling import requested_leniency
from edfi_api.api.viewsets.headers import written_document_headers
from edfi_api.api.viewsets.recorded_writes import data_store_of
from edfi_api.api.viewsets.resource_viewset import ResourceViewSet
from edfi_api.documents.extraction import DocumentIdentity
from edfi_api.documents.incoming import Preparer
from edfi_api.documents.leniency import Leniency, Tolerated
from edfi_api.model.surface.resource import Resource, ResourceName
from edfi_api.problem_details.catalog import SYSTEM_ERROR, problem_of
from edfi_api.problem_details.handler import correlation_id
from edfi_api.security.authorization import ACTIONS, Authorization, refusal_behind
from edfi_api.storage.stored import Written
from edfi_api.storage.stored_versions import stored_versions

_METHODS = {Kind.CREATE: "POST", Kind.UPSERT: "POST", Kind.UPDATE: "PUT", Kind.DELETE: "DELETE"}
# The methods of the routes of single requests.
_OF_A_COLLECTION, _OF_AN_ITEM = ("GET", "POST"), ("GET", "PUT", "DELETE")
_NO_QUERY = QueryDict("")
# Headers of the batch that say something about its own body, and conditions.
_OF_THE_BATCH = (
    "CONTENT_LENGTH",
    "CONTENT_TYPE",
    "HTTP_CONTENT_ENCODING",
    "HTTP_ACCEPT",
    "HTTP_IF_MATCH",
    "HTTP_IF_NONE_MATCH",
    "HTTP_TRANSFER_ENCODING",
    "QUERY_STRING",
    "wsgi.input",
)

# The stored URIs of descriptors, by referential id.
StoredUris = Callable[[Iterable[UUID]], dict[UUID, str]]

_log = logging.getLogger(__name__)


class OperationViewSet(ResourceViewSet):
    """The viewset of a resource for operations."""

    is_recorded = False  # The batch may be rolled back.
    uris: StoredUris

    def stored_uris(self, ids: Iterable[UUID]) -> dict[UUID, str]:
        return self.uris(ids)


class OperationViewSets:
    """The viewsets of a surface, each made at its first operation."""

    def __init__(self, served: ServedSurface) -> None:
        self.served = served
        self._made: dict[ResourceName, type[OperationViewSet]] = {}

    def __getitem__(self, resource: Resource) -> type[OperationViewSet]:
        if resource.name not in self._made:
            made: Any = viewset_class(resource, self.served, OperationViewSet)
            self._made[resource.name] = made
        return self._made[resource.name]


class Singles:
    """Carries out operations of one batch one at a time; `request` is that of the batch."""

    def __init__(
        self,
        request: EdFiRequest,
        viewsets: OperationViewSets,
        using: str,
        stored_uris: StoredUris,
    ) -> None:
        self.using = using
        self.viewsets = viewsets
        self.stored_uris = stored_uris
        self.is_strict = requested_leniency(request._request).is_strict
        self.client: int = request.user.row_id
        self.data_store = data_store_of(request)
        self.has_profiles = bool(request.user.profile_ids)
        self._request = request
        self.correlation_id = correlation_id(request._request)
        self._meta = {name: value for name, value in request.META.items() if name not in _OF_THE_BATCH}

    def attempted(self, operation: Operation) -> tuple[Result, Exception | None]:
        """What the single request would be answered, and the reason of a refusal. Every failure is a result."""
        view = None
        reason = None
        try:
            if operation.refusal is not None:
                raise operation.refusal
            view = self.view(operation)
            response: HttpResponse = getattr(view, view.action)(view.request, prefix=addresses.DATA)
            result = _written(operation, view, response)
        except Exception as error:  # A bug refuses one operation, as it refuses one request.
            reason = self._reason(operation, error)
            result = self.refused(operation, reason)
        if view is not None and view.leniency is not None:
            result.tolerated = tolerated_in(view.leniency)
        return result, reason

    def refused(self, operation: Operation, error: Exception) -> Result:
        """The result of an operation that was refused for this reason."""
        problem = problem_of(error)
        if problem is None:
            _log.error("operation %s failed", operation.position, exc_info=error)
            problem = SYSTEM_ERROR
        body = problem.body(self.correlation_id)
        return Result(operation, problem.status, problem=body, is_temporary=problem.status == 503)

    def authorization(self, operation: Operation) -> Authorization:
        """What the client may do. Raises what the single request would be refused with."""
        return self._view(operation).authorize(self._single_request(operation))

    def preparer(self, resource: Resource) -> Preparer:
        return self.viewsets.served.preparers[resource.name]

    def identity(self, operation: Operation) -> DocumentIdentity:
        """The identity that is the natural key of the operation."""
        assert operation.resource is not None and operation.key is not None  # noqa: S101  Callers look before.
        return self.preparer(operation.resource).extractor.identity(operation.key)

    def written(self, operation: Operation, status: int, written: Written) -> Result:
        """The result of an operation whose document was written in a set."""
        assert operation.resource is not None  # noqa: S101  Others are in no set.
        headers = written_document_headers(self._request._request, addresses.DATA, operation.resource, written)
        location, etag = headers["Location"], headers["ETag"]
        return Result(operation, status, written.document_uuid, location, etag, written.change_version)

    def view(self, operation: Operation) -> OperationViewSet:
        """The view at the point at which it would call its action."""
        view = self._view(operation)
        if view.detail:
            view.document_uuid = uuid = self._document_uuid(operation)
            if operation.document is not None and operation.document.get("id") is None:
                view.request.parsers = _parsed(operation.document | {"id": str(uuid)})
        return view

    def _view(self, operation: Operation) -> OperationViewSet:
        assert operation.resource is not None and operation.kind is not None  # noqa: S101  Others have a refusal.
        view = self.viewsets[operation.resource]()
        view.action, view.using = operation.kind.action, self.using
        view.detail = operation.kind in (Kind.UPDATE, Kind.DELETE)
        view.route_methods = _OF_AN_ITEM if view.detail else _OF_A_COLLECTION
        view.request = self._single_request(operation)
        view.uris = self.stored_uris
        return view

    def _single_request(self, operation: Operation) -> EdFiRequest:
        sent: HttpRequest = copy(self._request._request)
        sent.method = _METHODS[operation.kind or Kind.UPSERT]
        sent.META = self._meta | operation.headers
        sent.GET = _NO_QUERY
        request = EdFiRequest(sent, parsers=_parsed(operation.document), authenticators=self._request.authenticators)
        request.user, request.auth = self._request.user, self._request.auth
        return request

    def _document_uuid(self, operation: Operation) -> UUID:
        """The id of the document; of one that does not exist, if the natural key belongs to none."""
        if operation.document_uuid is not None:
            return operation.document_uuid
        id_ = self.identity(operation).referential_id
        found = stored_versions([id_], self.using).get(id_)
        if found is not None:
            return found.document_uuid
        if operation.document is not None:
            operation.document.pop("id", None)
        return uuid7()

    def _reason(self, operation: Operation, error: Exception) -> Exception:
        """As `AuthorizedView.handle_exception`."""
        if isinstance(error, ProgrammingError) and operation.resource is not None and operation.kind is not None:
            action, surface = ACTIONS[operation.kind.action], self.viewsets.served.surface
            return refusal_behind(self._request.user, operation.resource, action, surface, self.using) or error
        return error


def tolerated_in(leniency: Leniency) -> Sequence[Tolerated]:
    """What is reported as tolerated; strict handling refuses it."""
    return () if leniency.is_strict else leniency.tolerated


class _Parsed:
    """In place of a parser: the document of an operation, which has been parsed with the batch."""

    def __init__(self, document: dict[str, Any] | None) -> None:
        self._document = document

    def parse(self, request: HttpRequest) -> dict[str, Any] | None:
        return self._document


def _parsed(document: dict[str, Any] | None) -> Any:
    """The parsers of a request with this document."""
    return (_Parsed(document),)


def _written(operation: Operation, view: OperationViewSet, response: HttpResponse) -> Result:
    if operation.kind is Kind.DELETE:
        return Result(operation, response.status_code, id=str(view.document_uuid))
    location, etag = response.headers["Location"], response.headers["ETag"]
    assert view.written is not None  # noqa: S101  The write has succeeded.
    written = view.written
    return Result(operation, response.status_code, written.document_uuid, location, etag, written.change_version)
