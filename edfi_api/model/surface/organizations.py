"""The hierarchy of education organizations, derived from the references between their types."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from edfi_api.model.metaed.model import Entity, Property, PropertyType
from edfi_api.model.surface.declarations import Declarations
from edfi_api.model.surface.path_table import PathTable
from edfi_api.model.surface.resource import (
    OrganizationHierarchy,
    OwnOrganization,
    ParentOrganization,
    Resource,
    Surface,
)
from edfi_api.model.surface.securable import organization_types


def organization_hierarchy(
    declarations: Declarations, table_of: Callable[[Entity], PathTable]
) -> OrganizationHierarchy:
    """All types of organizations, and the references to their parents."""
    types = organization_types(declarations)
    names = tuple(declarations.resource_name(entity) for entity in types)
    parents = (parent for entity in types[:-1] for parent in _parents(entity, types, declarations, table_of))
    return OrganizationHierarchy(names, tuple(parents))


def with_own_organizations(surface: Surface) -> Surface:
    """The surface with each resource's own part of the hierarchy in `organization`."""
    resources = (replace(each, organization=_own(each, surface.organizations)) for each in surface.resources)
    return replace(surface, resources=tuple(resources))


def _own(resource: Resource, hierarchy: OrganizationHierarchy) -> OwnOrganization | None:
    superclass = resource.superclass
    if superclass is None or not {resource.name, superclass.name} <= set(hierarchy.types):
        return None
    parents = (parent.path for parent in hierarchy.parents if parent.type == resource.name)
    return OwnOrganization(superclass.identity[0].here, tuple(parents))


def _parents(
    entity: Entity, types: list[Entity], declarations: Declarations, table_of: Callable[[Entity], PathTable]
) -> Iterator[ParentOrganization]:
    """Only references that the type itself declares: those of the common superclass are not specific to a type."""
    keys = {organization.key for organization in types}
    for prop in entity.properties:
        if _is_single_reference(prop) and prop.target in keys:
            target = declarations.model.target(prop)
            for value in table_of(entity).values_at((prop.full_name,))[:1]:
                yield ParentOrganization(
                    declarations.resource_name(entity), declarations.resource_name(target), value.named_path
                )


def _is_single_reference(prop: Property) -> bool:
    return prop.type is PropertyType.DOMAIN_ENTITY and not prop.is_collection
