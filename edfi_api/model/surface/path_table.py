"""Path tables: from the property paths of the model to the paths of their values in the body.

`CourseOffering.Session.SessionName` of a section is at `$.courseOfferingReference.sessionName`. Identity,
references, constraints, query fields and security data are all looked up here.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from edfi_api.model.metaed.model import Property, PropertyType
from edfi_api.model.surface.declarations import PlacedProperty
from edfi_api.model.surface.identity import IdentityLeaf
from edfi_api.model.surface.json_schema import EXTENSIONS
from edfi_api.model.surface.members import DocumentBody, Member
from edfi_api.model.surface.resource import ALL_ITEMS, JsonPath

ROOT = JsonPath(())

PropertyPath = tuple[str, ...]


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
