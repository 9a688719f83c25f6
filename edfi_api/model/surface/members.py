"""An entity's document as a tree of named members, from which JSON schemas, path tables and the rest are derived.

All decisions about names and nesting are made here; users of the tree only walk it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from edfi_api.model.metaed.model import Entity, Property, PropertyType
from edfi_api.model.surface.declarations import Declarations, Modifier, PlacedProperty, property_id
from edfi_api.model.surface.identity import Identities, IdentityLeaf
from edfi_api.model.surface.naming import (
    extension_key,
    identity_value_name,
    item_name,
    lower_camel,
    member_name,
    with_prefix,
)


@dataclass(frozen=True, slots=True, eq=False)
class ReferenceMember:
    """A value in a reference object. A merged-away one has a name but is not in the object."""

    name: str
    leaf: IdentityLeaf


@dataclass(frozen=True, slots=True, eq=False)
class CommonExtension:
    """The additions of a project to the objects of a common, under `_ext` in each of them."""

    key: str
    members: tuple[Member, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Member:
    """One member of a JSON object: a scalar, a reference, a common, or an array of one of these.

    `item_name` is the single member of an array's items, unless they are commons.
    """

    placed: PlacedProperty
    name: str
    item_name: str = ""
    members: tuple[Member, ...] = ()
    values: tuple[ReferenceMember, ...] = ()
    extensions: tuple[CommonExtension, ...] = ()

    @property
    def prop(self) -> Property:
        return self.placed.prop


@dataclass(frozen=True, slots=True, eq=False)
class Additions:
    """The members that one project adds to a document, under `_ext` and its key."""

    entity: Entity
    key: str
    members: tuple[Member, ...]


@dataclass(frozen=True, slots=True, eq=False)
class DocumentBody:
    """The body of an entity's documents: its own members and those of extensions."""

    entity: Entity
    members: tuple[Member, ...]
    additions: tuple[Additions, ...] = ()


class Documents:
    """Builds the trees; uses the identities for the members of references."""

    def __init__(self, declarations: Declarations, identities: Identities) -> None:
        self._declarations = declarations
        self._identities = identities

    def document(self, entity: Entity) -> DocumentBody:
        all_additions = self._declarations.additions(entity)
        overrides = [prop for additions in all_additions for prop in additions.properties if prop.is_common_extension]
        added = (self._additions(additions) for additions in all_additions)
        return DocumentBody(
            entity, tuple(self._top_members(entity, overrides)), tuple(part for part in added if part.members)
        )

    def _top_members(self, entity: Entity, overrides: list[Property]) -> Iterator[Member]:
        long_names = self._declarations.colliding_names(entity)
        for placed in self._declarations.placed_properties(entity):
            is_shortened = placed.through != () or property_id(placed.prop) not in long_names
            fitting = [override for override in overrides if _overrides(override, placed)]
            yield self._member(placed, is_shortened=is_shortened, overrides=fitting)

    def _additions(self, entity: Entity) -> Additions:
        placed = [p for p in self._declarations.placed_properties(entity) if not p.prop.is_common_extension]
        return Additions(entity, extension_key(self._declarations.project(entity).name), self._members(placed))

    def _members(self, properties: Iterable[PlacedProperty]) -> tuple[Member, ...]:
        return tuple(self._member(placed) for placed in properties)

    def _member(
        self, placed: PlacedProperty, *, is_shortened: bool = True, overrides: Iterable[Property] = ()
    ) -> Member:
        prop, modifier = placed.prop, placed.modifier
        name = lower_camel(with_prefix(modifier.prefix, member_name(prop, is_shortened=is_shortened)))
        if prop.type is PropertyType.COMMON:
            members = self._members(self._declarations.placed_properties(self._target(prop), modifier))
            extensions = tuple(self._common_extensions(overrides, modifier))
            return Member(placed, name, members=members, extensions=extensions)
        item = lower_camel(item_name(prop, modifier.prefix)) if prop.is_collection else ""
        # The prefix of an inline common applies to the members of a single reference, but not to those of a collection.
        values = self._values(prop, "" if prop.is_collection else modifier.prefix) if prop.type.is_reference else ()
        return Member(placed, name, item, values=values)

    def _common_extensions(self, overrides: Iterable[Property], modifier: Modifier) -> Iterator[CommonExtension]:
        for override in overrides:
            additions = self._declarations.common_additions(override)
            if additions is not None:
                key = extension_key(self._declarations.project(additions).name)
                members = self._members(self._declarations.placed_properties(additions, modifier))
                yield CommonExtension(key, members)

    def _values(self, reference: Property, prefix: str) -> tuple[ReferenceMember, ...]:
        leaves = self._identities.leaves(self._target(reference))
        return tuple(
            ReferenceMember(lower_camel(identity_value_name(leaf.naming_chain, prefix)), leaf) for leaf in leaves
        )

    def _target(self, prop: Property) -> Entity:
        return self._declarations.model.target(prop)


def _overrides(override: Property, placed: PlacedProperty) -> bool:
    """Whether a `common extension` repeats this property of the extended entity."""
    prop = placed.prop
    return placed.through == () and prop.type is PropertyType.COMMON and prop.full_name == override.full_name
