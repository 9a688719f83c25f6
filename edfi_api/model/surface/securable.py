"""The securable elements of documents, and the hierarchy of education organizations, which follows from the references
between their types. The exceptions of Ed-Fi's security model are data at the top of this module; implementers can add
to them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace

from edfi_api.model.metaed.core_names import (
    AUTHORIZATION_PATHWAYS,
    CONTACT,
    EDUCATION_ORGANIZATION,
    NAMESPACE,
    NAMESPACE_TYPE,
    STAFF,
    STUDENT,
)
from edfi_api.model.metaed.model import (
    CORE_NAMESPACE,
    Cardinality,
    Entity,
    EntityKey,
    EntityKind,
    Property,
    PropertyType,
)
from edfi_api.model.surface.declarations import Declarations
from edfi_api.model.surface.path_table import PathTable, Terminal, Value
from edfi_api.model.surface.resource import (
    JsonPath,
    NamedPath,
    OrganizationHierarchy,
    OwnOrganization,
    ParentOrganization,
    Resource,
    SecurableElements,
    Surface,
)


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
    """Yield the parents by references that the type itself declares: those of the common superclass are not specific to
    a type.
    """
    keys = {organization.key for organization in types}
    for prop in entity.properties:
        if prop.type is PropertyType.DOMAIN_ENTITY and not prop.is_collection and prop.target in keys:
            target = declarations.model.target(prop)
            for value in table_of(entity).values_at((prop.full_name,))[:1]:
                yield ParentOrganization(
                    declarations.resource_name(entity), declarations.resource_name(target), value.named_path
                )


@dataclass(frozen=True, slots=True)
class Exemption:
    """A resource whose organization is that of one named reference, in standards from `since` on.

    Source: configuration of the official build of the core model.
    """

    resource: str
    reference: str
    since: int
    replaces_others: bool = False


EXEMPTIONS = (
    Exemption("DisciplineAction", "ResponsibilitySchool", since=4),
    Exemption("StudentAssessment", "ReportedSchool", since=4),
    Exemption("OrganizationDepartment", "ParentEducationOrganization", since=4, replaces_others=True),
    Exemption("ProgramEvaluation", "Program", since=5),
    Exemption("ProgramEvaluationElement", "ProgramEvaluation", since=5),
    Exemption("ProgramEvaluationObjective", "ProgramEvaluation", since=5),
    Exemption("EvaluationRubricDimension", "ProgramEvaluationElement", since=5),
)


def authorization_pathways(entity: Entity) -> tuple[str, ...]:
    """The pathways of which documents of this entity are the associations; core entities only."""
    if entity.namespace != CORE_NAMESPACE:
        return ()
    return tuple(name for name, associations in AUTHORIZATION_PATHWAYS.items() if entity.name in associations)


def securable_elements(entity: Entity, table: PathTable, declarations: Declarations) -> SecurableElements:
    """The elements of a document; additions of extensions never contribute any."""
    identity = [terminal for terminal in table.terminals if terminal.is_identity]
    return SecurableElements(
        namespace=_paths(value for terminal in table.terminals for value in terminal.values if _is_namespace(value)),
        education_organization=_organizations(entity, table, identity, declarations),
        student=_people(identity, STUDENT),
        contact=_people(identity, CONTACT),
        staff=_people(identity, STAFF),
    )


def organization_types(declarations: Declarations) -> list[Entity]:
    """The kinds of education organizations of all projects, the abstract one last; none without such a core."""
    abstract = declarations.model.entities.get(EDUCATION_ORGANIZATION)
    return [*declarations.subclasses(abstract), abstract] if abstract is not None else []


def _organizations(
    entity: Entity, table: PathTable, identity: Iterable[Terminal], declarations: Declarations
) -> tuple[NamedPath, ...]:
    owners = {organization.key for organization in organization_types(declarations)}
    elements = {
        NamedPath(value.prop.name, value.path)
        for terminal in identity
        for value in terminal.values
        if value.prop.declared_by in owners and not _has_role(terminal, value)
    }
    exemption = _exemption(entity, declarations)
    if exemption is not None:
        named = set(_exempted(exemption, table, owners))
        elements = named if exemption.replaces_others else elements | named
    return tuple(sorted(elements, key=lambda element: (element.name, str(element.path))))


def _exemption(entity: Entity, declarations: Declarations) -> Exemption | None:
    if entity.namespace != CORE_NAMESPACE:
        return None
    standard = int(declarations.project(entity).version.partition(".")[0])
    return next((e for e in EXEMPTIONS if e.resource == entity.name and standard >= e.since), None)


def _exempted(exemption: Exemption, table: PathTable, owners: set[EntityKey]) -> Iterator[NamedPath]:
    for value in table.values_at((exemption.reference,)):
        if value.prop.declared_by in owners:
            yield NamedPath(exemption.reference, value.path)


def _has_role(terminal: Terminal, value: Value) -> bool:
    way = value.leaf.chain if value.leaf is not None else ()
    return any(prop.role_name for prop in (terminal.prop, *way, value.prop))


def _people(identity: Iterable[Terminal], names: frozenset[str]) -> tuple[JsonPath, ...]:
    return _paths(value for terminal in identity for value in terminal.values if _is_owned_by(value.prop, names))


def _is_owned_by(prop: Property, names: frozenset[str]) -> bool:
    owner = prop.declared_by
    return owner.namespace == CORE_NAMESPACE and owner.kind is EntityKind.DOMAIN_ENTITY and owner.name in names


def _is_namespace(value: Value) -> bool:
    prop = value.prop
    is_mandatory = prop.is_identity or prop.cardinality is Cardinality.REQUIRED
    is_type = prop.type is PropertyType.SHARED_STRING and prop.target == NAMESPACE_TYPE
    return is_type and is_mandatory and prop.name == NAMESPACE and not prop.role_name


def _paths(values: Iterable[Value]) -> tuple[JsonPath, ...]:
    return tuple(sorted({value.path for value in values}, key=str))
