"""Resource → its viewset class, with a telling name and everything compiled that its requests need."""

from edfi_api.documents.incoming import Preparers
from edfi_api.surface.resource import ProjectFacts, Resource
from edfi_api.viewsets.resource_viewset import ResourceViewSet


def viewset_class(resource: Resource, project: ProjectFacts, preparers: Preparers) -> type[ResourceViewSet]:
    """`StudentViewSet` for the resource Student."""
    members = {
        "__doc__": resource.documentation,
        "resource": resource,
        "project": project,
        "preparers": preparers,
    }
    return type(f"{resource.name.resource}ViewSet", (ResourceViewSet,), members)
