"""Creates the viewset class of a resource."""

from edfi_api.common.ods_compatibility import OdsCompatibility
from edfi_api.core.documents.incoming import Preparers
from edfi_api.core.queries.query_by_example import QueryByExample
from edfi_api.core.queries.visible_fields import with_visible_fields
from edfi_api.core.security.profiles.catalog import OfParts, ProfileCatalogs
from edfi_api.core.security.profiles.negotiation import ProfiledResource
from edfi_api.core.security.profiles.preparation import profile_preparers
from edfi_api.core.writes.writing import WritableResource
from edfi_api.model.surface.resource import ProjectFacts, Resource, Surface
from edfi_api.web.viewsets.ods_representation import Representations
from edfi_api.web.viewsets.representation import Representation
from edfi_api.web.viewsets.resource_viewset import ResourceViewSet
from edfi_api.web.viewsets.responses import PRIVATE, FixedHeaders


class ServedSurface:
    """What the viewsets of all resources of a surface share."""

    def __init__(self, surface: Surface) -> None:
        self.surface = surface
        self.preparers = Preparers(surface, OdsCompatibility.BODIES.applies)
        self._representations = Representations(surface)
        self.profiles = ProfileCatalogs(surface)
        self.profile_queries = OfParts(lambda part: QueryByExample(with_visible_fields(part.resource, part.view)))
        self.profile_preparers = profile_preparers(self.preparers)

    def representation(self, resource: Resource) -> Representation:
        """How documents of the resource are written into answers."""
        return self._representations.of(resource, self.preparers[resource.name].extractor)

    def writable(self, resource: Resource) -> WritableResource:
        """The resource with what its writes need."""
        profiled, preparer = ProfiledResource(resource, self.profiles), self.preparers[resource.name]
        return WritableResource(resource, profiled, preparer, self.profile_preparers, self.preparers)


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
