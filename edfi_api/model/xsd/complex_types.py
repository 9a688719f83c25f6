"""Entities, commons and descriptors → the complex types of what they are written as, with the particles of their
properties in order of declaration; and the types of references to them: the identity, what they can be looked up by,
and the reference itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from edfi_api.model.metaed.model import ADDITIONS_KINDS, Entity, EntityKind, Model, Property, PropertyType
from edfi_api.model.surface.naming import element_name, identity_element, lookup_element, map_element
from edfi_api.model.xsd.schema import (
    COMPLEX_OBJECT_TYPE,
    DESCRIPTOR_TYPE,
    REFERENCE_TYPE,
    Annotation,
    Choice,
    ComplexType,
    Derivation,
    Element,
    Particle,
    TypeGroup,
    TypeNames,
)

REFERABLE_KINDS = (
    EntityKind.DOMAIN_ENTITY,
    EntityKind.DOMAIN_ENTITY_SUBCLASS,
    EntityKind.ASSOCIATION,
    EntityKind.ASSOCIATION_SUBCLASS,
)
# The published schemas have look-ups for these and no others, in every version of the standard; the model does not say
# why. Whether one of them has anything to look for is up to its search keys.
_LOOKED_UP = frozenset(
    {
        "Assessment",
        "AssessmentFamily",
        "Course",
        "EducationOrganization",
        "EducationOrganizationNetwork",
        "EducationServiceCenter",
        "GradebookEntry",
        "LearningStandard",
        "LocalEducationAgency",
        "Parent",
        "Program",
        "School",
        "Section",
        "Session",
        "Staff",
        "StateEducationAgency",
        "Student",
    }
)
DOMAIN_ENTITY_KINDS = (
    EntityKind.DOMAIN_ENTITY,
    EntityKind.DOMAIN_ENTITY_SUBCLASS,
    EntityKind.DOMAIN_ENTITY_ADDITIONS,
)
ASSOCIATION_KINDS = (EntityKind.ASSOCIATION, EntityKind.ASSOCIATION_SUBCLASS, EntityKind.ASSOCIATION_ADDITIONS)
COMMON_KINDS = (EntityKind.COMMON, EntityKind.COMMON_SUBCLASS, EntityKind.COMMON_ADDITIONS)
_GROUPS = (
    dict.fromkeys(DOMAIN_ENTITY_KINDS, TypeGroup.DOMAIN_ENTITY)
    | dict.fromkeys(ASSOCIATION_KINDS, TypeGroup.ASSOCIATION)
    | dict.fromkeys(COMMON_KINDS, TypeGroup.COMMON)
)


class Elements:
    """Reads the properties of one model."""

    def __init__(self, model: Model, names: TypeNames) -> None:
        self._model = model
        self._names = names

    def of(self, properties: Iterable[Property]) -> tuple[Particle, ...]:
        return tuple(map(self.of_property, properties))

    def of_property(self, prop: Property) -> Particle:
        """The members of a choice keep their own cardinality; an inline common is an element like any common."""
        if prop.type is PropertyType.CHOICE:
            return Choice(self.of(self._model.target(prop).properties), prop.is_optional, prop.is_collection)
        return Element(
            element_name(prop),
            self._names.of_property(prop),
            Annotation(prop.documentation, descriptor=self._descriptor(prop)),
            prop.is_optional,
            prop.is_collection,
        )

    def _descriptor(self, prop: Property) -> str:
        return self._names.of(self._model.target(prop).key) if prop.type is PropertyType.DESCRIPTOR else ""


def once(particle: Particle, *, is_optional: bool) -> Particle:
    """The particle at most once, and so all that it is a choice of."""
    if isinstance(particle, Choice):
        members = tuple(once(member, is_optional=is_optional) for member in particle.particles)
        return Choice(members, is_optional)
    return replace(particle, is_optional=is_optional, is_repeated=False)


class ReferenceTypes:
    """Reads the entities of one model."""

    def __init__(self, model: Model, names: TypeNames) -> None:
        self._model = model
        self._names = names
        self._elements = Elements(model, names)

    def of(self, entity: Entity) -> Iterator[ComplexType]:
        yield self._identity(entity)
        parts = [self._part(entity, identity_element(entity.name), self._names.identity(entity.key))]
        if entity.name in _LOOKED_UP and not self._model.project(entity.namespace).is_extension:
            yield self._lookup(entity)
            parts.append(self._part(entity, lookup_element(entity.name), self._names.lookup(entity.key)))
        yield ComplexType(
            name=self._names.reference(entity.key),
            annotation=Annotation(f"A reference to {entity.name}.", TypeGroup.EXTENDED_REFERENCE),
            particles=tuple(parts),
            base=REFERENCE_TYPE,
            place=entity.place,
        )

    def _part(self, entity: Entity, name: str, type_name: str) -> Element:
        what = "What identifies" if name == identity_element(entity.name) else "What can be known of"
        return Element(name, type_name, Annotation(f"{what} the referenced {entity.name}."), is_optional=True)

    def _identity(self, entity: Entity) -> ComplexType:
        elements = map(self._elements.of_property, self._identity_properties(entity))
        return ComplexType(
            name=self._names.identity(entity.key),
            annotation=Annotation(f"The identity of {entity.name}.", TypeGroup.IDENTITY),
            particles=tuple(once(element, is_optional=False) for element in elements),
            place=entity.place,
        )

    def _identity_properties(self, entity: Entity) -> Iterator[Property]:
        """The entity's own, those of its inline commons without the element around them, and those of the base."""
        own = (prop for prop in entity.properties if prop.is_identity and prop.type is not PropertyType.INLINE_COMMON)
        yield from own
        for prop in entity.properties:
            if prop.type is PropertyType.INLINE_COMMON:
                yield from self._identity_properties(self._model.target(prop))
        base = self._model.base(entity)
        if base is not None:
            renamed = _renamed(entity)
            yield from (prop for prop in self._identity_properties(base) if prop.full_name not in renamed)

    def _lookup(self, entity: Entity) -> ComplexType:
        elements = map(self._elements.of_property, self._search_keys(entity))
        return ComplexType(
            name=self._names.lookup(entity.key),
            annotation=Annotation(f"What {entity.name} can be looked up by.", TypeGroup.LOOKUP),
            particles=tuple(once(element, is_optional=True) for element in elements),
            place=entity.place,
        )

    def _search_keys(self, entity: Entity) -> Iterator[Property]:
        """The entity's own and those of the base. Additions have none: the type is the core's."""
        yield from entity.search_keys
        base = self._model.base(entity)
        if base is not None:
            renamed = _renamed(entity)
            yield from (key for key in self._search_keys(base) if key.full_name not in renamed)


def _renamed(entity: Entity) -> frozenset[str]:
    return frozenset(prop.renames for prop in entity.properties if prop.renames)


class ComplexTypes:
    """Reads the declarations of one model."""

    def __init__(self, model: Model, names: TypeNames) -> None:
        self._model = model
        self._names = names
        self._elements = Elements(model, names)

    def of(self, entity: Entity) -> Iterator[ComplexType]:
        """The type of an entity or common; of additions also the restriction that leaves out what they replace."""
        if entity.kind is EntityKind.COMMON_ADDITIONS:
            yield self._additions(entity)
        elif entity.kind in ADDITIONS_KINDS:
            yield from self._entity_additions(entity)
        else:
            yield ComplexType(
                name=self._names.of(entity.key),
                annotation=Annotation(entity.documentation, _GROUPS[entity.kind]),
                particles=self._elements.of(self._own_properties(entity)),
                base=self._base(entity),
                is_abstract=_is_abstract(entity),
                place=entity.place,
            )

    def of_descriptor(self, descriptor: Entity) -> ComplexType:
        """All descriptors have the elements of the base; files of old standards map some to an enumeration."""
        map_type = descriptor.map_type
        particles: tuple[Element, ...] = ()
        if map_type is not None:
            annotation = Annotation(map_type.documentation)
            type_name = self._names.map_type(descriptor.key)
            particles = (Element(map_element(descriptor.name), type_name, annotation, map_type.is_optional),)
        return ComplexType(
            name=self._names.of(descriptor.key),
            annotation=Annotation(descriptor.documentation, TypeGroup.DESCRIPTOR),
            particles=particles,
            base=DESCRIPTOR_TYPE,
            place=descriptor.place,
        )

    def _base(self, entity: Entity) -> str:
        if _GROUPS[entity.kind] is TypeGroup.COMMON:
            return ""
        return self._names.of(entity.base) if entity.base is not None else COMPLEX_OBJECT_TYPE

    def _own_properties(self, entity: Entity) -> Iterator[Property]:
        """A subclass of an abstract entity has the identity under a name of its own. The type of a common subclass
        has no base: Ed-Fi's tools leave the properties of the base out, which makes documents with them invalid."""
        is_common = entity.kind is EntityKind.COMMON_SUBCLASS
        for declaration in self._model.lineage(entity) if is_common else (entity,):
            yield from (prop for prop in declaration.properties if not (_is_abstract(entity) and prop.is_identity))

    # --- additions ---

    def _additions(self, additions: Entity, base: str | None = None) -> ComplexType:
        return ComplexType(
            name=self._names.extension(additions.namespace, additions.name),
            annotation=Annotation(f"{additions.name}, with additions.", _GROUPS[additions.kind]),
            particles=self._elements.of(additions.properties),
            base=base or self._extended(additions),
            place=additions.place,
        )

    def _entity_additions(self, additions: Entity) -> Iterator[ComplexType]:
        if not any(prop.is_common_extension for prop in additions.properties):
            yield self._additions(additions)
            return
        restriction = self._restriction(additions)
        yield self._additions(additions, restriction.name)
        yield restriction

    def _restriction(self, additions: Entity) -> ComplexType:
        """The extended entity without the commons that the additions have more members for."""
        replaced = {(prop.name, prop.role_name) for prop in additions.properties if prop.is_common_extension}
        kept = (
            prop
            for prop in self._all_properties(additions)
            if prop.type is not PropertyType.COMMON or (prop.name, prop.role_name) not in replaced
        )
        return ComplexType(
            name=self._names.restriction(additions),
            annotation=Annotation(f"{additions.name} without what its extension replaces."),
            particles=self._elements.of(kept),
            base=self._extended(additions),
            derivation=Derivation.RESTRICTION,
            place=additions.place,
        )

    def _all_properties(self, additions: Entity) -> Iterator[Property]:
        """Yield the properties of the extended entity after those of its base."""
        _, *lineage = self._model.lineage(additions)
        for ancestor in reversed(lineage):
            yield from self._own_properties(ancestor)

    def _extended(self, additions: Entity) -> str:
        if additions.base is None:
            raise KeyError(f"{additions.name} extends nothing")
        return self._names.of(additions.base)


def _is_abstract(entity: Entity) -> bool:
    """The API has an abstract association; its type is like any other."""
    return entity.is_abstract and entity.kind is EntityKind.DOMAIN_ENTITY
