"""Properties → the particles of a complex type, in order of declaration. Entities → the types of references to them:
the identity, what they can be looked up by, and the reference itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from edfi_api.model.metaed.model import Entity, EntityKind, Model, Property, PropertyType
from edfi_api.model.surface.naming import element_name, identity_element, lookup_element
from edfi_api.model.xsd.names import REFERENCE_TYPE, TypeNames
from edfi_api.model.xsd.schema import Annotation, Choice, ComplexType, Element, Particle, TypeGroup

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
        if self._is_looked_up(entity):
            yield self._lookup(entity)
            parts.append(self._part(entity, lookup_element(entity.name), self._names.lookup(entity.key)))
        yield ComplexType(
            name=self._names.reference(entity.key),
            annotation=Annotation(f"A reference to {entity.name}.", TypeGroup.EXTENDED_REFERENCE),
            particles=tuple(parts),
            base=REFERENCE_TYPE,
            place=entity.place,
        )

    def _is_looked_up(self, entity: Entity) -> bool:
        return entity.name in _LOOKED_UP and not self._model.project(entity.namespace).is_extension

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
