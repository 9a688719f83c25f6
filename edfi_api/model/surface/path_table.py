"""An entity's document as a tree of named members, from which JSON schemas and the rest are derived, and its path
table: from the property paths of the model to the paths of their values in the body.

All decisions about names and nesting are made in the tree; its users only walk it.
`CourseOffering.Session.SessionName` of a section is at `$.courseOfferingReference.sessionName`. Identity, references,
constraints, query fields and security data are all looked up in the path table.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from edfi_api.model.metaed.model import Entity, Property, PropertyType
from edfi_api.model.surface.declarations import Declarations, Modifier, PlacedProperty, property_id
from edfi_api.model.surface.identity import Identities, IdentityLeaf
from edfi_api.model.surface.naming import (
    EXTENSIONS,
    extension_key,
    identity_value_name,
    item_name,
    lower_camel,
    member_name,
    with_prefix,
)
from edfi_api.model.surface.resource import ALL_ITEMS, JsonPath

ROOT = JsonPath(())
PropertyPath = tuple[str, ...]


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
            overriding = [override for override in overrides if _overrides(override, placed)]
            yield self._member(placed, is_shortened=is_shortened, overrides=overriding)

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
    """Return whether a `common extension` repeats this property of the extended entity."""
    prop = placed.prop
    return placed.through == () and prop.type is PropertyType.COMMON and prop.full_name == override.full_name


@dataclass(frozen=True, slots=True, eq=False)
class Value:
    """A scalar in the body. `leaf` is set for a value of a reference object.

    `path` is its actual path, `named_path` the one of its name: a merged-away value has a name of its own, but the path
    of the value that covers it.
    """

    prop: Property
    named_path: JsonPath
    path: JsonPath
    leaf: IdentityLeaf | None = None

    @property
    def is_present(self) -> bool:
        """Whether the body has a member for this value, which merged-away ones do not have."""
        return self.leaf is None or not self.leaf.is_merged_away


@dataclass(frozen=True, slots=True, eq=False)
class Terminal:
    """A property with its own path in the body: a scalar, or a whole reference (`path` is the object's).

    `is_item_key` marks the key of the items of an array.
    """

    property_path: PropertyPath
    placed: PlacedProperty
    path: JsonPath
    values: tuple[Value, ...]
    is_item_key: bool
    is_identity: bool

    @property
    def prop(self) -> Property:
        return self.placed.prop

    @property
    def present_paths(self) -> list[JsonPath]:
        """The paths of the values in the body, each once, sorted."""
        return sorted({value.named_path for value in self.values if value.is_present}, key=str)


@dataclass(frozen=True, slots=True, eq=False)
class PathTable:
    """All terminals of one document (or of one project's additions), and the values by property path."""

    terminals: tuple[Terminal, ...]
    by_property_path: dict[PropertyPath, tuple[Value, ...]]

    def values_at(self, path: PropertyPath) -> tuple[Value, ...]:
        """The values of a property path, several only for a reference; empty if there is no such path."""
        return self.by_property_path.get(path, ())


def document_table(document: DocumentBody) -> PathTable:
    """The table of an entity's own members, including the additions of extensions to its commons."""
    return _table(_terminals(document.members, _Position(ROOT, is_document=True)))


def additions_tables(document: DocumentBody) -> Iterator[PathTable]:
    """A table for each project's additions to the document itself."""
    for additions in document.additions:
        root = ROOT / EXTENSIONS / additions.key
        yield _table(_terminals(additions.members, _Position(root)))


def common_identity(terminals: Iterable[Terminal]) -> tuple[JsonPath, ...]:
    """The members that are identity in their enclosing common, sorted."""
    members = (terminal for terminal in terminals if terminal.prop.is_identity and not terminal.is_identity)
    return tuple(sorted((terminal.path for terminal in members), key=str))


@dataclass(frozen=True, slots=True)
class _Position:
    """The current position of the walk over the members."""

    path: JsonPath
    property_path: PropertyPath = ()
    is_document: bool = False
    is_in_keyed_items: bool = False
    is_key: bool = False


def _terminals(members: Iterable[Member], position: _Position) -> Iterator[Terminal]:
    for member in members:
        if member.prop.type is PropertyType.COMMON:
            yield from _common(member, position)
        else:
            yield _terminal(member, position)


def _common(member: Member, position: _Position) -> Iterator[Terminal]:
    prop = member.prop
    inside = _Position(
        path=position.path / member.name / ALL_ITEMS if prop.is_collection else position.path / member.name,
        property_path=position.property_path + member.placed.path,
        is_in_keyed_items=prop.is_collection,
    )
    yield from _terminals(member.members, inside)
    for extension in member.extensions:
        added = _Position(inside.path / EXTENSIONS / extension.key, inside.property_path)
        yield from _terminals(extension.members, added)


def _terminal(member: Member, position: _Position) -> Terminal:
    placed, prop = member.placed, member.prop
    path = position.path / member.name
    if prop.is_collection:
        path = path / ALL_ITEMS / member.item_name
    return Terminal(
        property_path=position.property_path + placed.path,
        placed=placed,
        path=path,
        values=tuple(_values(member, path)),
        is_item_key=_is_item_key(member, position),
        is_identity=position.is_document and placed.is_identity,
    )


def _is_item_key(member: Member, position: _Position) -> bool:
    """Identity is the key of an item only if the collection's common itself declares it."""
    if member.prop.is_collection:
        return not member.prop.type.is_reference
    return position.is_in_keyed_items and member.prop.is_identity and not member.placed.through


def _values(member: Member, path: JsonPath) -> Iterator[Value]:
    prop = member.prop
    if prop.type is PropertyType.SCHOOL_YEAR_ENUMERATION:
        yield Value(prop, path / "schoolYear", path / "schoolYear")
    elif not prop.type.is_reference:
        yield Value(prop, path, path)
    names = {id(value.leaf): value.name for value in member.values}
    for value in member.values:
        standing = names[id(value.leaf.covered_by or value.leaf)]
        yield Value(value.leaf.prop, path / value.name, path / standing, value.leaf)


def _table(terminals: Iterable[Terminal]) -> PathTable:
    found = tuple(terminals)
    by_property_path = defaultdict(list)
    for terminal in found:
        for value in terminal.values:
            for path in _property_paths(terminal, value):
                by_property_path[path].append(value)
    return PathTable(found, {path: _sorted(values) for path, values in by_property_path.items()})


def _property_paths(terminal: Terminal, value: Value) -> Iterator[PropertyPath]:
    """The property paths of a value of a reference: of the reference, of each reference below it, and its own."""
    yield terminal.property_path
    if value.leaf is not None:
        for length in range(1, len(value.leaf.chain) + 1):
            yield terminal.property_path + value.leaf.path[:length]


def _sorted(values: Iterable[Value]) -> tuple[Value, ...]:
    return tuple(sorted(values, key=lambda value: str(value.named_path)))
