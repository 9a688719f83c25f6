"""The model from the API's perspective: which declarations are resources, and which properties their documents have.

Adds the inverse pointers that the model lacks (subclasses, additions), inheritance, and the properties of inline
commons and choices at the place of their use.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import chain

from edfi_api.model.metaed.model import (
    ADDITIONS_KINDS,
    SUBCLASS_KINDS,
    Cardinality,
    Entity,
    EntityKey,
    EntityKind,
    Model,
    Project,
    Property,
    PropertyType,
)
from edfi_api.model.surface import naming
from edfi_api.model.surface.resource import ResourceName

RESOURCE_KINDS = (
    EntityKind.DOMAIN_ENTITY,
    EntityKind.DOMAIN_ENTITY_SUBCLASS,
    EntityKind.ASSOCIATION,
    EntityKind.ASSOCIATION_SUBCLASS,
)

IN_PLACE_TYPES = (PropertyType.INLINE_COMMON, PropertyType.CHOICE)

PropertyId = tuple[EntityKey, str]


def property_id(prop: Property) -> PropertyId:
    """The unique key of a property: its declaring entity and its full name there."""
    return prop.declared_by, prop.full_name


@dataclass(frozen=True, slots=True)
class Modifier:
    """The effect of enclosing inline commons and choices on a property: it can become optional, its name prefixed."""

    is_optional: bool = False
    prefix: str = ""

    def below(self, prop: Property) -> Modifier:
        """The modifier of the members of an inline common or choice."""
        is_optional = self.is_optional or prop.is_optional or prop.type is PropertyType.CHOICE
        role = "" if prop.role_name == prop.name else prop.role_name
        return Modifier(is_optional, self.prefix + role)


@dataclass(frozen=True, slots=True)
class PlacedProperty:
    """A property at the place of its use; `through` are the enclosing inline commons and choices."""

    prop: Property
    modifier: Modifier
    through: tuple[Property, ...] = ()

    @property
    def path(self) -> tuple[str, ...]:
        """Full property names, with inline commons and choices as steps: `("Owner", "School")`."""
        return (*(step.full_name for step in self.through), self.prop.full_name)

    @property
    def is_required(self) -> bool:
        return not self.prop.is_optional and not self.modifier.is_optional

    @property
    def is_identity(self) -> bool:
        """Whether it is part of the identity: directly or in inline commons, but not in choices."""
        return self.prop.is_identity and all(step.type is PropertyType.INLINE_COMMON for step in self.through)


class Declarations:
    """Lookups in a model that need inverse pointers or inheritance."""

    def __init__(self, model: Model) -> None:
        self.model = model

    @cached_property
    def _by_base(self) -> dict[EntityKey, list[Entity]]:
        by_base = defaultdict(list)
        for entity in self.model.entities.values():
            if entity.base is not None:
                by_base[entity.base].append(entity)
        return by_base

    def subclasses(self, entity: Entity) -> list[Entity]:
        return [other for other in self._by_base.get(entity.key, ()) if other.kind in SUBCLASS_KINDS]

    def additions(self, entity: Entity) -> list[Entity]:
        return [other for other in self._by_base.get(entity.key, ()) if other.kind in ADDITIONS_KINDS]

    def common_additions(self, override: Property) -> Entity | None:
        """The additions of a `common extension` to the items: those of that name in the namespace of the property."""
        key = EntityKey(override.declared_by.namespace, EntityKind.COMMON_ADDITIONS, override.name)
        return self.model.entities.get(key)

    def resources(self) -> Iterator[Entity]:
        """The declarations with a document and an endpoint, other than descriptors and school years."""
        return (entity for entity in self.model.of_kind(*RESOURCE_KINDS) if not self.is_abstract(entity))

    def abstract_resources(self) -> Iterator[Entity]:
        return (entity for entity in self.model.of_kind(*RESOURCE_KINDS) if self.is_abstract(entity))

    def is_abstract(self, entity: Entity) -> bool:
        return entity.is_abstract

    def superclass(self, entity: Entity) -> Entity | None:
        return self.model.base(entity) if entity.kind in SUBCLASS_KINDS else None

    def project(self, entity: Entity) -> Project:
        return self.model.project(entity.namespace)

    def resource_name(self, entity: Entity) -> ResourceName:
        return ResourceName(self.project(entity).name, naming.resource_name(entity))

    def effective_properties(self, entity: Entity) -> tuple[Property, ...]:
        """Own properties, then the inherited ones, except renamed ones."""
        superclass = self.superclass(entity)
        if superclass is None:
            return entity.properties
        renamed = {prop.renames for prop in entity.properties if prop.cardinality is Cardinality.IDENTITY_RENAME}
        inherited = self.effective_properties(superclass)
        return entity.properties + tuple(prop for prop in inherited if prop.full_name not in renamed)

    def placed_properties(self, entity: Entity, modifier: Modifier | None = None) -> Iterator[PlacedProperty]:
        """The effective properties, with inline commons and choices replaced by their properties, recursively."""
        return self._placed(self.effective_properties(entity), modifier or Modifier(), ())

    def _placed(
        self, properties: tuple[Property, ...], modifier: Modifier, through: tuple[Property, ...]
    ) -> Iterator[PlacedProperty]:
        for prop in properties:
            if prop.type in IN_PLACE_TYPES:
                inner = self.effective_properties(self.model.target(prop))
                yield from self._placed(inner, modifier.below(prop), (*through, prop))
            else:
                yield PlacedProperty(prop, modifier, through)

    def colliding_names(self, subclass: Entity) -> frozenset[PropertyId]:
        """The collections of a subclass document whose shortened names would be equal.

        `SchoolCategory` of School and `EducationOrganizationCategory` of its base both keep their long names there.
        """
        superclass = self.superclass(subclass)
        if superclass is None:
            return frozenset()
        return frozenset(
            property_id(prop)
            for inherited in superclass.properties
            for own in subclass.properties
            if _collide(inherited, superclass.name, own, subclass.name)
            for prop in (inherited, own)
        )

    def property_at(self, entity: Entity, step: str) -> Property | None:
        """The property named by one step of a merge path: own, added in the same namespace, or inherited."""
        added = (a.properties for a in self.additions(entity) if a.namespace == entity.namespace)
        for prop in chain(entity.properties, *added):
            if prop.full_name == step:
                return prop
        base = self.model.base(entity)
        return self.property_at(base, step) if base is not None else None


def _collide(inherited: Property, superclass: str, own: Property, subclass: str) -> bool:
    return (
        inherited.is_collection
        and own.is_collection
        and inherited.full_name.startswith(superclass)
        and inherited.full_name.removeprefix(superclass) == own.full_name.removeprefix(subclass)
    )
