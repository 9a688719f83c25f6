"""Routes `/{project}/{endpoint}[/{id}]`, case-insensitively, to the viewsets of a surface.

One URL pattern and a dictionary instead of a pattern per resource: Django tries patterns sequentially, and six hundred
would take longer than the request itself. See meadowlark/docs/reference/contract.md#paths-and-ids.
"""

from collections.abc import Mapping
from copy import copy
from dataclasses import dataclass
from typing import Any

from django.http import HttpRequest, HttpResponse
from rest_framework.response import Response

from edfi_api.common.ods_compatibility import OdsCompatibility
from edfi_api.core.documents.document_validator import DocumentValidators
from edfi_api.core.queries.parameters import with_visible_fields
from edfi_api.core.queries.query_by_example import QueryByExample
from edfi_api.core.security.profiles.catalog import OfParts, ProfileCatalogs, profile_validators
from edfi_api.core.security.profiles.negotiation import ProfiledResource
from edfi_api.core.writes.writing import WritableResource
from edfi_api.model.surface.resource import ProjectFacts, Resource, Surface
from edfi_api.web.viewsets.edfi_view import UnknownResourceView
from edfi_api.web.viewsets.ods_representation import Representations, as_the_ods
from edfi_api.web.viewsets.recorded_writes import record_refused
from edfi_api.web.viewsets.representation import Representation
from edfi_api.web.viewsets.resource_viewset import ResourceViewSet, View
from edfi_api.web.viewsets.responses import PRIVATE, FixedHeaders

_COLLECTION = {"get": "list", "post": "create"}
_ITEM = {"get": "retrieve", "put": "update", "delete": "destroy"}


@dataclass(frozen=True, slots=True)
class OwnViews:
    """The views of a resource without stored documents; `by_segment` by path segments in place of an id."""

    collection: View
    item: View
    by_segment: Mapping[str, View]


class UnknownDataView(UnknownResourceView):
    """Records writes to unknown resources."""

    surface: Surface = None  # type: ignore[assignment]  # Given by the router.

    def handle_exception(self, exc: Exception) -> Response:
        response = super().handle_exception(exc)
        record_refused(self.request, response, exc, resource=f"/{self.kwargs['path']}")
        return response


class DataRouter:
    """A view that dispatches each request to the viewset of the resource in its path."""

    def __init__(self, surface: Surface, base: type[ResourceViewSet]) -> None:
        """Creates a viewset for each resource, as subclasses of `base`."""
        base = as_the_ods(base)
        self.served = served = ServedSurface(surface)
        self._unknown = UnknownDataView.as_view(surface=surface)
        self._collections: dict[tuple[str, str], View] = {}
        self._items: dict[tuple[str, str], View] = {}
        self._by_last_segment: dict[str, dict[tuple[str, str], View]] = {segment: {} for segment in base.segments}
        for key, resource in surface.by_endpoint.items():
            viewset = viewset_class(resource, served, base)
            self._collections[key] = viewset.as_view(_COLLECTION, detail=False)
            self._items[key] = viewset.as_view(_ITEM, detail=True)
            for segment, action in base.segments.items():
                self._by_last_segment[segment][key] = viewset.as_view({"get": action}, detail=None)

    def with_views(self, own: Mapping[tuple[str, str], OwnViews]) -> "DataRouter":
        """A router that also serves resources without stored documents, by project and endpoint in lower case."""
        made = copy(self)
        made._collections = self._collections | {key: views.collection for key, views in own.items()}
        made._items = self._items | {key: views.item for key, views in own.items()}
        made._by_last_segment = {
            segment: found | {key: views.by_segment[segment] for key, views in own.items()}
            for segment, found in self._by_last_segment.items()
        }
        return made

    def __call__(self, request: HttpRequest, prefix: str, path: str) -> HttpResponse:
        """`path` is what follows the prefix; one trailing slash is tolerated. Sets `request.data_route` to the path of
        the resource, or to an empty text for unknown paths."""
        request.data_route = ""  # type: ignore[attr-defined]  # Read by metrics and the request log.
        match path.removesuffix("/").split("/"):
            case [project, endpoint]:
                return self._dispatch(self._collections, request, project, endpoint, prefix=prefix)
            case [project, endpoint, third] if third.lower() in self._by_last_segment:
                return self._dispatch(self._by_last_segment[third.lower()], request, project, endpoint, prefix=prefix)
            case [project, endpoint, document_id]:
                return self._dispatch(self._items, request, project, endpoint, prefix=prefix, document_id=document_id)
        return self._unknown(request, path=path)

    def _dispatch(
        self, views: dict[tuple[str, str], View], request: HttpRequest, project: str, endpoint: str, **kwargs: Any
    ) -> HttpResponse:
        view = views.get((project.lower(), endpoint.lower()))
        if view is None:
            return self._unknown(request, path=f"{project}/{endpoint}")
        request.data_route = view.url_path  # type: ignore[attr-defined]
        return view(request, **kwargs)

    # Requests are authenticated by bearer tokens, not cookies, so they need no CSRF protection.
    csrf_exempt = True


class ServedSurface:
    """What the viewsets of all resources of a surface share."""

    def __init__(self, surface: Surface) -> None:
        self.surface = surface
        self.validators = DocumentValidators(surface, OdsCompatibility.BODIES.applies)
        self._representations = Representations(surface)
        self.profiles = ProfileCatalogs(surface)
        self.profile_queries = OfParts(lambda part: QueryByExample(with_visible_fields(part.resource, part.view)))
        self.profile_validators = profile_validators(self.validators)

    def representation(self, resource: Resource) -> Representation:
        """Return how documents of the resource are written into answers."""
        return self._representations.of(resource, self.validators[resource.name].extractor)

    def writable(self, resource: Resource) -> WritableResource:
        """The resource with what its writes need."""
        profiled, validator = ProfiledResource(resource, self.profiles), self.validators[resource.name]
        return WritableResource(resource, profiled, validator, self.profile_validators, self.validators)


def viewset_class(resource: Resource, served: ServedSurface, base: type[ResourceViewSet]) -> type[ResourceViewSet]:
    """A subclass of `base`, `StudentViewSet` for the resource Student, with everything compiled for its requests."""
    writable = served.writable(resource)
    project = next(project for project in served.surface.projects if project.name == resource.name.project)
    members = {
        "__doc__": resource.documentation,
        "resource": resource,
        "project": project,
        "surface": served.surface,
        "fixed_headers": _fixed_headers(project),
        "writable": writable,
        "query_by_example": QueryByExample(resource),
        "profile_queries": served.profile_queries,
        "representation": served.representation(resource),
    }
    return type(f"{resource.name.resource}ViewSet", (base,), members)


def _fixed_headers(project: ProjectFacts) -> FixedHeaders:
    return FixedHeaders(
        {
            **PRIVATE,
            "x-metaed-project-name": project.name,
            "x-metaed-project-version": project.version,
            "x-metaed-project-package-name": project.package_name,
        }
    )
