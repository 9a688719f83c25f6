"""The hierarchy of education organizations in ApiSchema files, where type names have no project."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from edfi_api.model.apischema import format as f
from edfi_api.model.surface.organizations import with_own_organizations
from edfi_api.model.surface.resource import (
    AbstractResource,
    JsonPath,
    OrganizationHierarchy,
    ParentOrganization,
    ResourceName,
    Surface,
)


def with_organizations(surface: Surface, projects: Iterable[f.ProjectSchema]) -> Surface:
    """The surface with the organizations that the projects add.

    A file lists the types of all projects that were compiled with it. Types that are not loaded here are ignored.
    """
    types = dict.fromkeys(surface.organizations.types)
    parents = dict.fromkeys(surface.organizations.parents)
    for project in projects:
        known = _known_types(surface.abstract_resources, project)
        types |= dict.fromkeys(known[name] for name in project.education_organization_types if name in known)
        parents |= dict.fromkeys(_parents(project, known))
    abstract = {resource.name for resource in surface.abstract_resources}
    in_order = tuple(sorted(types, key=lambda name: name in abstract))
    hierarchy = OrganizationHierarchy(in_order, tuple(parents))
    return with_own_organizations(replace(surface, organizations=hierarchy))


def _known_types(
    abstract_resources: Iterable[AbstractResource], project: f.ProjectSchema
) -> Mapping[str, ResourceName]:
    """The types by their names in the file: the abstract type, which is last there, and its subclasses."""
    last = project.education_organization_types[-1:]
    found = next((abstract for abstract in abstract_resources if [abstract.name.resource] == last), None)
    return {} if found is None else {name.resource: name for name in (*found.subclasses, found.name)}


def _parents(project: f.ProjectSchema, known: Mapping[str, ResourceName]) -> Iterator[ParentOrganization]:
    for name, parents in project.education_organization_hierarchy.items():
        for parent, path in parents.items():
            if name in known and parent in known:
                yield ParentOrganization(known[name], known[parent], JsonPath.parse(path))
