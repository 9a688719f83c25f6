"""Resource → its viewset class, with a telling name and everything compiled that its requests need."""

from edfi_api.documents.incoming import Preparers
from edfi_api.surface.resource import Resource, Surface
from edfi_api.viewsets.representation import Representation
from edfi_api.viewsets.resource_viewset import ResourceViewSet


def viewset_class(
    resource: Resource, surface: Surface, preparers: Preparers, base: type[ResourceViewSet]
) -> type[ResourceViewSet]:
    """`StudentViewSet` for the resource Student."""
    preparer = preparers[resource.name]
    members = {
        "__doc__": resource.documentation,
        "resource": resource,
        "project": next(project for project in surface.projects if project.name == resource.name.project),
        "preparers": preparers,
        "preparer": preparer,
        "representation": Representation(preparer.extractor, surface),
    }
    return type(f"{resource.name.resource}ViewSet", (base,), members)
