"""The documents around one document, over HTTP: a page of names, with bodies on request."""

from collections.abc import Iterator
from typing import Any

import orjson
from django.http.response import HttpResponseBase
from rest_framework.request import Request

from edfi_api.documents import store
from edfi_api.documents.extraction import Extractor
from edfi_api.documents.guards import Guard
from edfi_api.relations.authorization import readable
from edfi_api.relations.neighbours import Neighbours
from edfi_api.relations.parameters import Asked, read
from edfi_api.relations.related import RelatedDocument, related_documents
from edfi_api.surface.resource import Resource, ResourceName, Surface
from edfi_api.viewsets.document_id import document_uuid
from edfi_api.viewsets.edfi_view import EdFiView
from edfi_api.viewsets.exceptions import ResourceNotFound
from edfi_api.viewsets.links import Linker
from edfi_api.viewsets.representation import Representation
from edfi_api.viewsets.responses import JsonArray, json_file_response


class RelationsView(EdFiView):
    """What refers to a document, and what it refers to. Who may read the document may ask."""

    detail = None
    action = "retrieve"
    resource: Resource | None = None
    guard: Guard | None = None
    surface: Surface | None = None
    neighbours: Neighbours | None = None
    representations: dict[ResourceName, Representation] | None = None

    @classmethod
    def of(cls, surface: Surface) -> Any:
        """The view of all resources of a surface."""
        linker = Linker(surface)
        representations = {each.name: Representation(Extractor(each), linker) for each in surface.resources}
        return cls.as_view(surface=surface, neighbours=Neighbours(surface), representations=representations)

    def get(self, request: Request, project: str, endpoint: str, document_id: str) -> HttpResponseBase:
        """Raises as GET of the document does."""
        resource = self.surface.by_endpoint.get((project.lower(), endpoint.lower()))
        if resource is None:
            raise ResourceNotFound
        self.resource = resource
        uuid = document_uuid(document_id)
        asked = read(request.query_params, self.surface)
        self.check_permissions(request)
        neighbours = readable(request.user, self._neighbours(asked), self.surface)
        found = related_documents(resource, uuid, asked, neighbours, guard=self.guard)
        if found is None:
            store.get(resource, uuid, guard=self.guard)  # Raises if it is there, and says why it may not be read.
            raise ResourceNotFound
        array, last_row = JsonArray(), 0
        for each in found:
            array.append(self._text(each, asked))
            last_row = each.document.row
        headers = {"Next-Page-Token": str(asked.next_token(last_row))} if array.length == asked.size > 0 else {}
        return json_file_response(array.finish(), headers)

    def _neighbours(self, asked: Asked) -> Iterator[Resource]:
        for neighbour in self.neighbours.of(self.resource, asked.direction):
            if not asked.resources or neighbour.name in asked.resources:
                yield neighbour

    def _text(self, related: RelatedDocument, asked: Asked) -> bytes:
        members = {
            "resource": self.surface.by_name[related.name].url_path.removeprefix("/"),
            "id": related.document.document_uuid,
            "naturalKey": related.natural_key,
        }
        if asked.with_bodies:
            members["body"] = orjson.Fragment(self.representations[related.name].document(related.document))
        return orjson.dumps(members)
