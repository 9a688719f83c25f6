"""The viewset of all resources: list, create (upsert), retrieve, update, destroy.

`factory` creates one subclass per resource. Authentication, permission, filter, pagination and exception handler
classes are those of the settings; exceptions pass through to the handler.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Protocol, TypeVar, cast
from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.utils.decorators import classonlymethod
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.status import (
    HTTP_200_OK,
    HTTP_201_CREATED,
    HTTP_204_NO_CONTENT,
    HTTP_304_NOT_MODIFIED,
)
from rest_framework.viewsets import ViewSetMixin

from edfi_api.api.viewsets.authorized_view import AuthorizedView
from edfi_api.api.viewsets.document_id import document_uuid
from edfi_api.api.viewsets.edfi_view import EdFiRequest
from edfi_api.api.viewsets.handling import add_handling, requested_leniency
from edfi_api.api.viewsets.headers import etag_header, is_not_modified, write_condition, written_document_headers
from edfi_api.api.viewsets.profiled import ProfiledResource, profiled_headers, stored, without_hidden
from edfi_api.api.viewsets.recorded_writes import ReceivedWrite, record_accepted, record_refused
from edfi_api.api.viewsets.representation import CollectionText, Representation, etag
from edfi_api.api.viewsets.responses import EmptyResponse, FixedHeaders, JsonTextResponse, json_file_response
from edfi_api.conf import api_settings
from edfi_api.documents.incoming import Preparers
from edfi_api.documents.leniency import Leniency
from edfi_api.model.surface.resource import ProjectFacts, Resource, Surface
from edfi_api.problem_details.http_exceptions import ResourceNotFound
from edfi_api.profiles.catalog import ProfilePart
from edfi_api.profiles.visibility import visibility_of
from edfi_api.queries import collection, replica
from edfi_api.queries.query_by_example import QueryByExample
from edfi_api.queries.selection import Order, Selection, all_documents
from edfi_api.storage import store
from edfi_api.storage.conditions import WriteCondition
from edfi_api.storage.descriptor_casing import stored_uris
from edfi_api.storage.exceptions import KeyChangeContradicts
from edfi_api.storage.requests import DeleteRequest
from edfi_api.storage.stored import Outcome, Written

Result = TypeVar("Result")

_CHANGE_VERSIONS = {"minchangeversion", "maxchangeversion"}


class View(Protocol):
    """What `as_view` makes."""

    url_path: str

    def __call__(self, request: HttpRequest, **kwargs: Any) -> HttpResponse: ...


class ResourceViewSet(ViewSetMixin, AuthorizedView):  # type: ignore[misc]  # EdFiView refines what the mixin has.
    """All operations on the documents of one resource. `prefix` is the part of the path before the project."""

    # Path segments in place of an id → action.
    segments: Mapping[str, str] = {"partitions": "partitions"}

    resource: Resource
    project: ProjectFacts
    surface: Surface
    preparers: Preparers
    profiled: ProfiledResource
    query_by_example: QueryByExample
    representation: Representation
    fixed_headers: FixedHeaders
    # Those of the route, as `Allow` lists them, without HEAD.
    route_methods: tuple[str, ...]
    # Of the actions that have something to tolerate; None of the others.
    leniency: Leniency | None = None
    # Of a POST or PUT that succeeded.
    written: Written | None = None
    # From the beginning of a write.
    received: ReceivedWrite | None = None
    # Whether a write that succeeds is handed to the recorder.
    is_recorded = True

    @classonlymethod
    def as_view(cls, actions: dict[str, str], **facts: Any) -> View:  # type: ignore[override]  # Only routers call it.
        """As DRF's, but binds methods to actions once instead of per request."""
        facts["route_methods"] = tuple(method.upper() for method in actions)
        if "get" in actions:
            actions = actions | {"head": actions["get"]}
        methods = {method: getattr(cls, action) for method, action in actions.items()}
        route = type(cls.__name__, (cls,), {**methods, **facts, "action_map": actions})

        def view(request: HttpRequest, **kwargs: Any) -> HttpResponse:
            response: HttpResponse = route().dispatch(request, **kwargs)
            return response

        view.url_path = cls.resource.url_path  # type: ignore[attr-defined]
        return cast(View, view)

    def initial(self, request: Request, *args: Any, document_id: str | None = None, **kwargs: Any) -> None:
        """Does not check permissions: each action does."""
        self.perform_authentication(request)
        self.choose_database(request)
        self.check_throttles(request)
        if document_id is not None:
            self.document_uuid = document_uuid(document_id)

    def finalize_response(self, request: Request, response: Any, *args: Any, **kwargs: Any) -> Any:
        self.fixed_headers.add_to(response)
        if self.leniency is not None:
            add_handling(response, request._request, self.leniency)
        return super().finalize_response(request, response, *args, **kwargs)

    def get_queryset(self) -> Any:
        """The selection that the filter backends narrow."""
        return all_documents(self.resource, self.using)

    def selection(self, part: ProfilePart | None) -> Selection:
        """The documents that the filter backends select, by what a part of a profile shows of them."""
        if part is not None and part.view is not None:
            self.query_by_example = self.profiled.queries[part]
        self.leniency = requested_leniency(self.request._request)
        return cast(Selection, self.filter_queryset(self.get_queryset()))

    def list(self, request: EdFiRequest, **kwargs: Any) -> HttpResponseBase:
        """A page of documents; filters are the resource's query fields."""
        part = self.profiled.read_part(request, self.route_methods)
        page = self.paginator.read(request)
        documents = self.selection(part).restricted_by(self.authorize(request).policy)

        def query(documents: Selection) -> tuple[int | None, CollectionText]:
            total = collection.count(documents) if page.wants_total else None
            found = collection.page(page.rows_of(documents), page.size, page.offset)
            return total, self.representation.under(part).collection(found, self.using)

        total, text = self.read(request, documents, query)
        headers = profiled_headers(part)
        if total is not None:
            headers["Total-Count"] = str(total)
        if text.last_row is not None and documents.order is Order.ROW:
            headers["Next-Page-Token"] = str(page.next_token(text.last_row))
        return json_file_response(text.file, headers)

    def partitions(self, request: EdFiRequest, **kwargs: Any) -> HttpResponse:
        """Page tokens with which several clients can read the collection in parallel."""
        documents = self.selection(self.profiled.read_part(request, self.route_methods))
        number = self.paginator.read_number(request)
        documents = documents.restricted_by(self.authorize(request).policy)
        tokens = self.read(request, documents, lambda documents: self.paginator.partition(documents, number))
        return Response({"pageTokens": tokens})

    def read(self, request: EdFiRequest, documents: Selection, query: Callable[[Selection], Result]) -> Result:
        """The result of `query`, from the replica if possible. Requests for a window of change versions always read the
        primary: their clients would never request a change again that the replica did not have yet."""
        if any(name.lower() in _CHANGE_VERSIONS for name in request.query_params):
            return query(documents)
        return replica.read(documents, request.user.row_id, api_settings.REPLICA_SECONDS, query)

    def create(self, request: EdFiRequest, prefix: str, **kwargs: Any) -> HttpResponse:
        """Upsert by natural key: 201 if the document is new, otherwise 200."""
        self.leniency = requested_leniency(request._request)
        self.received = received = ReceivedWrite()
        received.sent = body = request.parsers[0].parse(request._request)
        part, preparer, request_class = self.profiled.written_part(request, self.route_methods)
        received.prepared = prepared = preparer.prepare_new(body, self.stored_uris, self.leniency)
        allowed = self.authorize(request)
        written = store.upsert(
            request_class(
                prepared,
                client=request.user.row_id,
                condition=self.condition(request),
                policy=allowed.policy,
                may_read=allowed.may_read,
                using=self.using,
            )
        )
        status = HTTP_201_CREATED if written.outcome is Outcome.INSERTED else HTTP_200_OK
        self.written = written if part is None else stored(written, prepared)
        headers = written_document_headers(request, prefix, self.resource, self.written, part)
        if self.is_recorded:
            record_accepted(request, self.resource.url_path, received, written.document_uuid)
        return EmptyResponse(status=status, headers=headers)

    def retrieve(self, request: EdFiRequest, **kwargs: Any) -> HttpResponse:
        """The document; 304 if the client has its current version."""
        part = self.profiled.read_part(request, self.route_methods)
        document = store.get(self.resource, self.document_uuid, policy=self.authorize(request).policy, using=self.using)
        if document is None:
            raise ResourceNotFound
        if is_not_modified(request, document, part):
            return EmptyResponse(status=HTTP_304_NOT_MODIFIED, headers=etag_header(etag(document, part)))
        tag, text = self.representation.under(part).served(document, self.using)
        return JsonTextResponse(text, headers=profiled_headers(part) | etag_header(tag))

    def update(self, request: EdFiRequest, prefix: str, **kwargs: Any) -> HttpResponse:
        """Replace the document's body in full."""
        self.leniency = requested_leniency(request._request)
        self.received = received = ReceivedWrite()
        received.sent = body = request.parsers[0].parse(request._request)
        part, preparer, request_class = self.profiled.written_part(request, self.route_methods)
        if api_settings.PUT_WITHOUT_ID and body.get("id") is None:
            body = body | {"id": str(self.document_uuid)}
        prepared = preparer.prepare_replacement(body, self.document_uuid, self.stored_uris, self.leniency)
        received.prepared = prepared
        allowed = self.authorize(request)
        write = request_class(
            prepared,
            client=request.user.row_id,
            condition=self.condition(request),
            policy=allowed.policy,
            may_read=allowed.may_read,
            using=self.using,
        )
        try:
            written = store.update(write, self.document_uuid, self.preparers)
        except KeyChangeContradicts as refusal:
            raise without_hidden(refusal, visibility_of(request.user, self.profiled.catalogs)) from refusal
        if self.is_recorded:
            record_accepted(request, self.resource.url_path, received, self.document_uuid)
        self.written = written if part is None else stored(written, prepared)
        headers = written_document_headers(request, prefix, self.resource, self.written, part)
        return EmptyResponse(status=HTTP_204_NO_CONTENT, headers=headers)

    def condition(self, request: EdFiRequest) -> WriteCondition:
        """The condition of a write, on versions of the document or of what the client reads of it."""
        condition = write_condition(request)
        if condition.must_match is None and condition.must_not_match is None:
            return condition
        return self.profiled.condition(condition, request.user)

    def destroy(self, request: EdFiRequest, **kwargs: Any) -> HttpResponse:
        """Delete the document."""
        self.received = received = ReceivedWrite()
        allowed = self.authorize(request)
        delete = DeleteRequest(
            self.resource,
            self.document_uuid,
            client=request.user.row_id,
            condition=self.condition(request),
            policy=allowed.policy,
            may_read=allowed.may_read,
            using=self.using,
        )
        if not store.delete(delete):
            raise ResourceNotFound
        if self.is_recorded:
            record_accepted(request, self.resource.url_path, received, self.document_uuid, is_delete=True)
        return EmptyResponse(status=HTTP_204_NO_CONTENT)

    def handle_exception(self, exc: Exception) -> Response:
        response = super().handle_exception(exc)
        record_refused(
            self.request,
            response,
            exc,
            resource=self.resource.url_path,
            preparer=self.profiled.preparer,
            received=self.received,
            document_uuid=getattr(self, "document_uuid", None),
        )
        # DRF's response refers to the view and the view to it, so both stay until the next garbage collection.
        self.received = None
        return response

    def stored_uris(self, ids: Iterable[UUID]) -> dict[UUID, str]:
        """The URIs of the client's stored descriptors among these referential ids."""
        return stored_uris(ids, self.using)
