"""Properties → the particles of a complex type, in order of declaration."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from edfi_api.model.metaed.model import Model, Property, PropertyType
from edfi_api.model.surface.naming import element_name
from edfi_api.model.xsd.names import TypeNames
from edfi_api.model.xsd.schema import Annotation, Choice, Element, Particle


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
