"""Related documents over HTTP: a page of names, with bodies on request."""

from collections.abc import Iterator, Mapping
from typing import Any

import orjson
from django.http.response import HttpResponseBase

from edfi_api.core.documents.extraction import Extractor
from edfi_api.core.security.profiles.catalog import ProfileCatalogs
from edfi_api.core.security.profiles.negotiation import Visibility, visibility_of
from edfi_api.core.security.requests.authorization import readable_resources
from edfi_api.core.storage import store
from edfi_api.model.surface.resource import Resource, ResourceName, Surface
from edfi_api.web.problem_details.http_exceptions import ResourceNotFound
from edfi_api.web.relations.related import (
    Direction,
    RelatedDocument,
    RelatedResources,
    RelationsQuery,
    read,
    related_documents,
)
from edfi_api.web.viewsets.edfi_view import AuthorizedView, EdFiRequest
from edfi_api.web.viewsets.ods_representation import Representations, shown_id
from edfi_api.web.viewsets.representation import Representation
from edfi_api.web.viewsets.requests import document_uuid
from edfi_api.web.viewsets.responses import JsonArray, json_file_response


class RelationsView(AuthorizedView):
    """Lists the documents that refer to a document, or those that it refers to. Authorized as GET of the document."""

    detail = None
    action = "retrieve"
    # DRF's `as_view` accepts only attributes that the class has; `of` sets these.
    surface: Surface = None  # type: ignore[assignment]
    related_resources: RelatedResources = None  # type: ignore[assignment]
    representations: Mapping[ResourceName, Representation] = {}
    profiles: ProfileCatalogs = None  # type: ignore[assignment]

    @classmethod
    def of(cls, surface: Surface) -> Any:
        """The view of all resources of a surface."""
        made = Representations(surface)
        representations = {each.name: made.of(each, Extractor(each)) for each in surface.resources}
        related_resources = RelatedResources(surface)
        return cls.as_view(
            surface=surface,
            related_resources=related_resources,
            representations=representations,
            profiles=ProfileCatalogs(surface),
        )

    def get(self, request: EdFiRequest, project: str, endpoint: str, document_id: str) -> HttpResponseBase:
        """Raises what GET of the document raises, NoUsableProfile among it, and the errors of `parameters.read`."""
        resource = self.surface.by_endpoint.get((project.lower(), endpoint.lower()))
        if resource is None:
            raise ResourceNotFound
        self.resource = resource
        visibility = visibility_of(request.user, self.profiles)
        visibility.parts(resource)
        uuid = document_uuid(document_id)
        query = read(request.query_params, self.surface)
        policy = self.authorize(request).policy
        resources = readable_resources(request.user, self._requested(query, visibility), self.surface, self.using)
        found = related_documents(resource, uuid, query, resources, policy=policy, using=self.using)
        if found is None:
            # Raises the reason if the document exists but may not be read.
            store.get(resource, uuid, policy=policy, using=self.using)
            raise ResourceNotFound
        array, last_row = JsonArray(), 0
        for each in found:
            array.append(self._text(each, query, visibility))
            last_row = each.document.row
        headers = {"Next-Page-Token": str(query.next_token(last_row))} if array.length == query.size > 0 else {}
        return json_file_response(array.finish(), headers)

    def _requested(self, query: RelationsQuery, visibility: Visibility) -> Iterator[Resource]:
        for related in self.related_resources.of(self.resource, query.direction):
            ends = (related, self.resource) if query.direction is Direction.INCOMING else (self.resource, related)
            is_requested = not query.resources or related.name in query.resources
            if is_requested and visibility.is_open(related) and visibility.shows_references(*ends):
                yield related

    def _text(self, related: RelatedDocument, query: RelationsQuery, visibility: Visibility) -> bytes:
        resource = self.surface.by_name[related.name]
        members: dict[str, object] = {
            "resource": resource.served_path.removeprefix("/"),
            "id": shown_id(related.document.document_uuid),
            "naturalKey": related.natural_key,
        }
        if query.with_bodies and len(parts := visibility.parts(resource)) <= 1:
            # With several parts, a GET would have to name one.
            representation = self.representations[related.name].under(parts[0] if parts else None)
            members["body"] = orjson.Fragment(representation.document(related.document, self.using))
        return orjson.dumps(members)
