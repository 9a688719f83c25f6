"""Creates the viewset class of a resource."""

from edfi_api.api.viewsets.links import Linker
from edfi_api.api.viewsets.representation import Representation
from edfi_api.api.viewsets.resource_viewset import ResourceViewSet
from edfi_api.api.viewsets.responses import FixedHeaders
from edfi_api.documents.incoming import Preparers
from edfi_api.model.surface.resource import ProjectFacts, Resource, Surface
from edfi_api.queries.query_by_example import QueryByExample


def viewset_class(
    resource: Resource, surface: Surface, preparers: Preparers, linker: Linker, base: type[ResourceViewSet]
) -> type[ResourceViewSet]:
    """A subclass of `base`, `StudentViewSet` for the resource Student, with everything compiled for its requests."""
    preparer = preparers[resource.name]
    project = next(project for project in surface.projects if project.name == resource.name.project)
    members = {
        "__doc__": resource.documentation,
        "resource": resource,
        "project": project,
        "surface": surface,
        "fixed_headers": _fixed_headers(project),
        "preparers": preparers,
        "preparer": preparer,
        "query_by_example": QueryByExample(resource),
        "representation": Representation(preparer.extractor, linker),
    }
    return type(f"{resource.name.resource}ViewSet", (base,), members)


def _fixed_headers(project: ProjectFacts) -> FixedHeaders:
    return FixedHeaders(
        {
            "x-metaed-project-name": project.name,
            "x-metaed-project-version": project.version,
            "x-metaed-project-package-name": project.package_name,
        }
    )
