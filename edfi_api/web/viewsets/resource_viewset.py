"""The viewset of all resources: list, create (upsert), retrieve, update, destroy.

`router` creates one subclass per resource. Authentication, permission, filter, pagination and exception handler
classes are those of the settings; exceptions pass through to the handler.
"""

from collections.abc import Callable, Mapping
from functools import partial
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

from edfi_api.common.conf import api_settings
from edfi_api.core.documents.violations import Leniency
from edfi_api.core.queries import collection, replica
from edfi_api.core.queries.filters import requested_members
from edfi_api.core.queries.parameters import CHANGE_VERSION_PARAMETERS
from edfi_api.core.queries.query_by_example import QueryByExample
from edfi_api.core.queries.selection import Selection, all_documents
from edfi_api.core.security.authenticated_client import AuthenticatedClient
from edfi_api.core.security.claims.compile import compiled_claim_set
from edfi_api.core.security.profiles.catalog import OfParts, ProfilePart
from edfi_api.core.security.profiles.negotiation import in_accept
from edfi_api.core.security.requests.authentication import IsApiClient, token_checksum
from edfi_api.core.security.requests.authorization import Authorization
from edfi_api.core.security.requests.data_stores import USE_SNAPSHOT
from edfi_api.core.storage import store
from edfi_api.core.storage.descriptor_uri_cache import stored_uris
from edfi_api.core.storage.store import Reading
from edfi_api.core.storage.stored import Outcome
from edfi_api.core.writes import writing as writes
from edfi_api.core.writes.writing import WritableResource, Write, WrittenDocument
from edfi_api.model.surface.resource import ProjectFacts, Resource, Surface
from edfi_api.web.answered_requests import DocumentsRead
from edfi_api.web.prepared_requests import CARRIED_OUT, DOCUMENT_ID, PREPARED, CarriedOut
from edfi_api.web.problem_details.http_exceptions import ResourceNotFound
from edfi_api.web.viewsets.edfi_view import AuthorizedView, EdFiRequest
from edfi_api.web.viewsets.prepared_actions import PreparedAction, PreparedRead
from edfi_api.web.viewsets.recorded_writes import record_accepted, record_refused
from edfi_api.web.viewsets.representation import CollectionText, Representation
from edfi_api.web.viewsets.requests import (
    RULE_WARNINGS,
    add_handling,
    document_uuid,
    is_not_modified,
    listed_warnings,
    requested_leniency,
    write_condition,
)
from edfi_api.web.viewsets.responses import (
    EmptyResponse,
    FinishedResponse,
    JsonTextResponse,
    collection_address,
    etag,
    json_file_response,
    profiled_headers,
    quoted,
    tag_of,
)

Result = TypeVar("Result")

# Variables of headers with which a request is never prepared: versions differ from request to request, snapshots are
# other databases, and what a compressed body takes is known when it is read only. `Prefer` decides about more than a
# `PreparedRead` looks at.
_NEVER_PREPARED = frozenset({"HTTP_IF_MATCH", "HTTP_IF_NONE_MATCH", "HTTP_CONTENT_ENCODING", USE_SNAPSHOT})
_PREFER = "HTTP_PREFER"
_ACTIONS = frozenset({"list", "create", "retrieve", "update", "destroy"})


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
    writable: WritableResource
    query_by_example: QueryByExample
    profile_queries: OfParts[QueryByExample]
    representation: Representation
    # The methods of the route, as `Allow` lists them, without HEAD.
    route_methods: tuple[str, ...]
    # The leniency of the actions that have something to tolerate; None for the others.
    leniency: Leniency | None = None
    # The id in the routes of a single document.
    document_uuid: UUID = None  # type: ignore[assignment]
    # From the time on at which everything that was sent is known.
    write: Write | None = None
    # What the client may do, once it was authorized, and its claim set before that.
    allowed: Authorization | None = None
    claim_set: object = None
    # That of the collection, of which `Location` consists, once it is known.
    address: str | None = None

    @classonlymethod
    def as_view(cls, actions: dict[str, str], **facts: Any) -> View:  # type: ignore[override]  # Only routers call it.
        """Return a view as DRF does, but one that binds methods to actions once instead of per request."""
        facts["route_methods"] = tuple(method.upper() for method in actions)
        if "get" in actions:
            actions = actions | {"head": actions["get"]}
        methods = {method: getattr(cls, action) for method, action in actions.items()}
        route = type(cls.__name__, (cls,), {**methods, **facts, "action_map": actions})

        def view(request: HttpRequest, **kwargs: Any) -> HttpResponse:
            done: CarriedOut | None = request.META.get(CARRIED_OUT)
            response: HttpResponse = (route() if done is None else done.view).dispatch(request, **kwargs)
            return response

        view.url_path = cls.resource.url_path  # type: ignore[attr-defined]
        return cast(View, view)

    def initial(self, request: Request, *args: Any, document_id: str | None = None, **kwargs: Any) -> None:
        """Does not check permissions: each action does."""
        self.perform_authentication(request)
        self.choose_database(request)
        if self.throttle_classes:
            self.check_throttles(request)
        if document_id is not None:
            self.document_uuid = document_uuid(document_id)
        self.adapt(request)

    def adapt(self, request: Request) -> None:
        """Change how the request is read, before it is."""

    def finalize_response(self, request: Request, response: Any, *args: Any, **kwargs: Any) -> Any:
        if self.leniency is not None:
            add_handling(response, request._request, self.leniency)
        # The server and the route may see an id in different places of a path, such as one with a slash at its end.
        is_alike = PREPARED in request.META and request.META[DOCUMENT_ID] == kwargs.get("document_id")
        if is_alike and isinstance(response, FinishedResponse) and self.may_be_prepared(request):
            own_headers = tuple(response.headers)
            request.META[PREPARED] = self.prepared(cast(EdFiRequest, request), own_headers, **kwargs)
        return super().finalize_response(request, response, *args, **kwargs)

    def authorize(self, request: EdFiRequest) -> Authorization:
        if self.allowed is None:
            # First: if it is compiled again before the policy is made, what is prepared is never current.
            self.claim_set = compiled_claim_set(request.user)
            self.allowed = super().authorize(request)
        return self.allowed

    def may_be_prepared(self, request: Request) -> bool:
        """Return whether nothing but the client and its claim set decides who may do what the request does, and the
        database with its documents can be no other one."""
        client = cast(EdFiRequest, request).user
        return (
            self.action in _ACTIONS
            and self.claim_set is not None
            and not client.uses_data_stores
            and api_settings.has_main_store
            and self.permission_classes == [IsApiClient]
            and not self.throttle_classes
            and not request.META.get("SCRIPT_NAME")
            and request.META.keys().isdisjoint(_NEVER_PREPARED)
        )

    def prepared(
        self, request: EdFiRequest, own_headers: tuple[str, ...], prefix: str, document_id: str | None = None
    ) -> PreparedAction:
        """The action for the next requests of this client."""
        client: AuthenticatedClient = request.user
        assert self.allowed is not None  # noqa: S101  The action has succeeded.
        facts: dict[str, Any] = {
            "viewset": type(self),
            "action": self.action,
            "arguments": {"prefix": prefix},
            "route": self.resource.url_path,
            "client": client,
            "client_key": client.key,
            "token_checksum": token_checksum(request.auth),
            "claim_set": self.claim_set,
            "allowed": self.allowed,
            "using": self.using,
            "address": self.address,
            "own_headers": own_headers,
        }
        is_read = self.action == "retrieve" and _PREFER not in request.META and not request.META.get("QUERY_STRING")
        if not is_read or client.profile_ids or self.read_part(request) is not None:
            return PreparedAction(**facts)
        read = Reading(self.resource, self.allowed.policy, self.using)
        return PreparedRead(**facts, read=read, representation=self.representation)

    def act_as_prepared(self, prepared: PreparedAction, document_id: str | None, sent: HttpRequest) -> HttpResponse:
        """Return what the action answers to a request of the kind that was prepared, with the headers that the view
        sets itself. Raises what the action raises."""
        self.action, self.address = prepared.action, prepared.address
        self.using, self.allowed = prepared.using, prepared.allowed
        # Without the mixin, which finds the action by the method.
        self.request = request = AuthorizedView.initialize_request(self, sent)
        request.user = prepared.client
        if document_id is not None:
            self.document_uuid = document_uuid(document_id)
        self.adapt(request)
        response: HttpResponse = getattr(self, self.action)(request, **prepared.arguments)
        if self.leniency is not None:
            add_handling(response, request._request, self.leniency)
        return response

    def answering(self, outcome: HttpResponse | Exception) -> "ResourceViewSet":
        """Let the dispatch of this view answer with an outcome of its action, and not call the action."""

        def answer(*_: Any, **__: Any) -> HttpResponse:
            # The view does not refer to an error that refers to it, which would stay until the next garbage collection.
            for method in self.action_map:
                delattr(self, method)
            if isinstance(outcome, Exception):
                raise outcome
            return outcome

        for method in self.action_map:
            setattr(self, method, answer)
        return self

    def get_queryset(self) -> Any:
        """The selection that the filter backends narrow."""
        return all_documents(self.resource, self.using)

    def selection(self, part: ProfilePart | None) -> Selection:
        """The documents that the filter backends select, by what a part of a profile shows of them."""
        if part is not None and part.view is not None:
            self.query_by_example = self.profile_queries[part]
        self.leniency = requested_leniency(self.request._request)
        return cast(Selection, self.filter_queryset(self.get_queryset()))

    def read_part(self, request: EdFiRequest) -> ProfilePart | None:
        """The part of a profile through which documents are read. Raises MalformedProfileMediaType and what
        `Negotiation.part` does."""
        requested = in_accept(request.META.get("HTTP_ACCEPT", ""))
        if requested is None and not request.user.profile_ids:
            return None
        return self.writable.profiled.part(request.user, requested, "GET", self.route_methods)

    def list(self, request: EdFiRequest, **kwargs: Any) -> HttpResponseBase:
        """A page of documents; filters are the resource's query fields."""
        part = self.read_part(request)
        page = self.paginator.read(request)
        representation = self.requested_representation(request, part)
        documents = self.selection(part).restricted_by(self.authorize(request).policy)

        def query(documents: Selection) -> tuple[int | None, CollectionText]:
            total = collection.count(documents) if page.wants_total else None
            found = collection.page(page.rows_of(documents), page.size, page.offset)
            return total, representation.collection(found, self.using, keeps_text=documents.order_by is not None)

        total, text = self.read(request, documents, query)
        headers = profiled_headers(part)
        if total is not None:
            headers["Total-Count"] = str(total)
        if text.last is not None and (token := page.token_behind(text.last, documents)):
            headers["Next-Page-Token"] = token
        request._request.done = text.read(request.META.get("QUERY_STRING", ""))  # type: ignore[attr-defined]
        return json_file_response(text.file, headers)

    def partitions(self, request: EdFiRequest, **kwargs: Any) -> HttpResponse:
        """Page tokens with which several clients can read the collection in parallel."""
        documents = self.selection(self.read_part(request))
        number = self.paginator.read_number(request)
        documents = documents.restricted_by(self.authorize(request).policy)
        tokens = self.read(request, documents, lambda documents: self.paginator.partition(documents, number))
        return Response({"pageTokens": tokens})

    def requested_representation(self, request: EdFiRequest, part: ProfilePart | None) -> Representation:
        """Return how documents are written into the answer: through a part of a profile, with the members of
        `fields`."""
        if not request.META.get("QUERY_STRING"):
            return self.representation.under(part)
        view = None if part is None else part.view
        return self.representation.under(part, requested_members(request.query_params, self.resource, view))

    def read(self, request: EdFiRequest, documents: Selection, query: Callable[[Selection], Result]) -> Result:
        """The result of `query`, from the replica if possible. Requests for a window of change versions always read the
        primary: their clients would never request a change again that the replica did not have yet."""
        if any(name.lower() in CHANGE_VERSION_PARAMETERS for name in request.query_params):
            return query(documents)
        return replica.read(documents, request.user.row_id, api_settings.REPLICA_SECONDS, query)

    def create(self, request: EdFiRequest, prefix: str, **kwargs: Any) -> HttpResponse:
        """Upsert by natural key: 201 if the document is new, otherwise 200."""
        write = self.sent_document(request)
        written = writes.upsert(write, partial(self.authorize, request))
        request._request.done = written.outcome  # type: ignore[attr-defined]
        status = HTTP_201_CREATED if written.outcome is Outcome.INSERTED else HTTP_200_OK
        record_accepted(request, write, written.document_uuid, status)
        return self.written_response(request, prefix, written, status)

    def retrieve(self, request: EdFiRequest, **kwargs: Any) -> HttpResponse:
        """The document; 304 if the client has its current version."""
        part = self.read_part(request)
        representation = self.requested_representation(request, part)
        document = store.get(self.resource, self.document_uuid, policy=self.authorize(request).policy, using=self.using)
        if document is None:
            raise ResourceNotFound
        if is_not_modified(request, document, part):
            return EmptyResponse(status=HTTP_304_NOT_MODIFIED, headers={"ETag": quoted(etag(document, part))})
        tag, text = representation.served(document, self.using)
        request._request.done = DocumentsRead(1, len(text))  # type: ignore[attr-defined]
        return JsonTextResponse(text, headers=profiled_headers(part) | {"ETag": quoted(tag)})

    def update(self, request: EdFiRequest, prefix: str, **kwargs: Any) -> HttpResponse:
        """Replace the document's body in full."""
        write = self.sent_document(request)
        written = writes.update(write, partial(self.authorize, request))
        request._request.done = written.outcome  # type: ignore[attr-defined]
        record_accepted(request, write, written.document_uuid)
        return self.written_response(request, prefix, written, HTTP_204_NO_CONTENT)

    def sent_document(self, request: EdFiRequest) -> Write:
        """A document to write, and how it is to be handled."""
        self.leniency = requested_leniency(request._request)
        return self.sent_write(
            request,
            document=request.parsers[0].parse(request._request),
            content_type=request.META.get("CONTENT_TYPE", ""),
            leniency=self.leniency,
            may_omit_id=api_settings.PUT_WITHOUT_ID,
        )

    def sent_write(self, request: EdFiRequest, **sent: Any) -> Write:
        """Return what the client requests; a refusal is recorded with it."""
        self.write = write = Write(
            resource=self.writable,
            client=request.user,
            using=self.using,
            stored_uris=partial(stored_uris, using=self.using),
            document_uuid=self.document_uuid,
            condition=write_condition(request.META.get("HTTP_IF_MATCH"), request.META.get("HTTP_IF_NONE_MATCH")),
            **sent,
        )
        return write

    def written_response(
        self, request: EdFiRequest, prefix: str, written: WrittenDocument, status: int
    ) -> HttpResponse:
        """The answer to a write that has succeeded."""
        if self.address is None:
            self.address = collection_address(request._request, prefix, self.resource)
        headers = {
            "Location": f"{self.address}/{written.document_uuid}",
            "ETag": quoted(tag_of(written.change_version, written.part)),
        }
        if written.warnings:
            headers[RULE_WARNINGS] = listed_warnings(written.warnings)
        return EmptyResponse(status=status, headers=headers)

    def destroy(self, request: EdFiRequest, **kwargs: Any) -> HttpResponse:
        """Delete the document."""
        write = self.sent_write(request)
        if not writes.delete(write, partial(self.authorize, request)):
            raise ResourceNotFound
        request._request.done = Outcome.DELETED  # type: ignore[attr-defined]
        record_accepted(request, write, self.document_uuid)
        return EmptyResponse(status=HTTP_204_NO_CONTENT)

    def handle_exception(self, exc: Exception) -> Response:
        response = super().handle_exception(exc)
        record_refused(
            self.request,
            response,
            exc,
            resource=self.resource.url_path,
            validator=self.writable.validator,
            write=self.write,
            document_uuid=self.document_uuid,
        )
        # DRF's response refers to the view and the view to it, so both stay until the next garbage collection.
        self.write = None
        return response
