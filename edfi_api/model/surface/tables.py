"""The tables that Ed-Fi's relational databases have for an entity: its main table and those of commons and collections.

Equality constraints and query parameters depend on which values share a table and a column of it; the SQL views have
the shape of these tables.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from enum import StrEnum

from edfi_api.model.metaed.model import ADDITIONS_KINDS, Cardinality, Entity, Property, PropertyType
from edfi_api.model.surface.columns import Column, ColumnPosition, KeyColumns, has_base_key, has_surrogate_id, sort_key
from edfi_api.model.surface.declarations import Declarations
from edfi_api.model.surface.identity import Identities
from edfi_api.model.surface.naming import joined_without_overlap, resource_name, role_prefix
from edfi_api.model.surface.path_table import PropertyPath

_EXTENSION = "Extension"


@dataclass(frozen=True, slots=True)
class Conflict:
    """Two values of a document that share a column."""

    present: Column
    new: Column


class TableKind(StrEnum):
    """What the rows of a table are."""

    MAIN = "main"
    EXTENSION = "extension"
    COMMON = "common"
    COMMON_EXTENSION = "common extension"
    COLLECTION = "collection"


@dataclass(frozen=True, slots=True)
class TableName:
    """`parts` are joined without repeating an overlap; what follows them, in the name of a collection of references,
    is `appended` as it is."""

    parts: tuple[str, ...] = ()
    appended: tuple[str, ...] = ()

    def __str__(self) -> str:
        return joined_without_overlap(self.parts) + "".join(self.appended)

    def __truediv__(self, part: str) -> TableName:
        return TableName((*self.parts, part))


@dataclass(frozen=True, slots=True)
class ColumnReference:
    """A property of a table whose value is a row of another one, by that row's key: the key's columns, under the ids
    that they have in the other table, and the property paths that they have in this one."""

    prop: Property
    key: tuple[Column, ...]


@dataclass(slots=True)
class Table:
    """Columns by id, and the conflicts found while columns were added.

    `path` is the property path of the common or collection whose items are the rows, empty for a main table;
    `enclosing` are the ids of the key of the tables around it, in their order; `references` are those to entities,
    descriptors, enumerations and school years.
    """

    kind: TableKind = TableKind.MAIN
    name: TableName = TableName()
    path: PropertyPath = ()
    enclosing: tuple[str, ...] = ()
    columns: dict[str, Column] = field(default_factory=dict)
    conflicts: list[Conflict] = field(default_factory=list)
    references: list[ColumnReference] = field(default_factory=list)

    def put(self, column: Column) -> None:
        """Add a column; the first of an id is kept, and surrogate ids never conflict."""
        present = self.columns.get(column.id)
        if present is None:
            self.columns[column.id] = column
            return
        if not present.is_surrogate:
            self.conflicts.append(Conflict(present, column))
        self.columns[column.id] = present.united_with(column)

    def take_over_key(self, key: Iterable[Column]) -> None:
        """Replace the key with these columns: of the superclass or extended entity, or a person's surrogate id."""
        self.columns = {name: replace(column, is_key=False) for name, column in self.columns.items()}
        for column in key:
            self.put(replace(column, is_key=True))

    @property
    def ordered(self) -> list[Column]:
        """The enclosing key in its own order, then the table's own key and the rest, each by id."""
        own = sorted((c for c in self.columns.values() if c.id not in self.enclosing), key=sort_key)
        enclosing = [self.columns[id_] for id_ in self.enclosing]
        return [*enclosing, *(c for c in own if c.is_key), *(c for c in own if not c.is_key)]

    @property
    def key(self) -> list[Column]:
        return [column for column in self.columns.values() if column.is_key]


class Tables:
    """Builds the tables of entities."""

    def __init__(self, declarations: Declarations, identities: Identities) -> None:
        self._declarations = declarations
        self._key_columns = KeyColumns(declarations, identities)

    def of(self, entity: Entity) -> list[Table]:
        """The main table, then those of commons and collections. Inherited properties are in the tables of the base."""
        main = _main_table(entity)
        nested = list(self._fill(main, _ordered_properties(entity), ColumnPosition()))
        if has_surrogate_id(entity) or has_base_key(entity):
            main.take_over_key(self._key_columns.key_columns(entity, ColumnPosition()))
        # The tables of additions are named after the extended entity.
        around = TableName((resource_name(entity),))
        return [main, *self._nested_tables(nested, around, sorted(main.key, key=sort_key))]

    def main(self, entity: Entity) -> Table:
        return self.of(entity)[0]

    def of_common_extension(self, override: Property, common: Table) -> list[Table]:
        """The table of what a project adds to the items of a common, then those of added commons and collections."""
        additions = self._declarations.common_additions(override)
        if additions is None:
            return []
        key = [replace(column, other_paths=()) for column in common.ordered if column.is_key]
        table = _table(TableKind.COMMON_EXTENSION, common.name / _EXTENSION, common.path, key)
        table.enclosing = common.enclosing
        nested = list(self._fill(table, additions.properties, ColumnPosition(path=common.path)))
        return [table, *self._nested_tables(nested, common.name, key)]

    def _fill(
        self, table: Table, properties: Iterable[Property], place: ColumnPosition
    ) -> Iterator[tuple[Property, ColumnPosition]]:
        """Add the columns of this table; yields the properties that need tables of their own."""
        for prop in properties:
            if prop.is_collection or prop.type is PropertyType.COMMON:
                yield prop, place
            elif prop.type in (PropertyType.INLINE_COMMON, PropertyType.CHOICE):
                yield from self._fill(table, self._inner(prop), _in_place(prop, place))
            else:
                self._put(table, self._key_columns.columns(prop, place), prop, place)

    def _put(self, table: Table, columns: Iterable[Column], prop: Property, place: ColumnPosition) -> None:
        """Add the columns of a property, and what it refers to."""
        for column in columns:
            table.put(column)
        if (key := self._key_columns.referenced_key(prop, place)) is not None:
            table.references.append(ColumnReference(prop, tuple(key)))

    def _nested_tables(
        self, nested: Iterable[tuple[Property, ColumnPosition]], around: TableName, enclosing: list[Column]
    ) -> Iterator[Table]:
        """The tables of commons and collections, each beginning with all enclosing keys."""
        for prop, place in nested:
            if prop.type is PropertyType.COMMON:
                yield from self._common_tables(prop, place, around, enclosing)
            else:
                name = _collection_name(prop, place, around)
                path = (*place.path, prop.full_name)
                table = _table(TableKind.COLLECTION, name, path, enclosing)
                self._put(table, self._key_columns.item_columns(prop, place), prop, place)
                yield table

    def _common_tables(
        self, prop: Property, place: ColumnPosition, around: TableName, enclosing: list[Column]
    ) -> Iterator[Table]:
        is_optional_single = prop.cardinality is Cardinality.OPTIONAL
        below = place.below(prop, "")
        below = replace(
            below,
            is_nullable=False,
            has_keys=prop.is_collection or (place.has_keys and not is_optional_single),
            merged=place.merged.within(prop, below.path),
        )
        table = _table(TableKind.COMMON, around / (prop.role_name + prop.name), below.path, enclosing)
        nested = list(self._fill(table, self._inner(prop), below))
        yield table
        inner = enclosing if is_optional_single else self._key_within(prop, below, enclosing)
        yield from self._nested_tables(nested, table.name, inner)

    def _key_within(self, prop: Property, below: ColumnPosition, enclosing: list[Column]) -> list[Column]:
        """The key of the tables within a common: the enclosing one, then its own."""
        table = _table(TableKind.COMMON, TableName(), (), enclosing)
        for column in self._key_columns.key_columns(self._declarations.model.target(prop), below):
            table.put(replace(column, is_key=True))
        return table.key

    def _inner(self, prop: Property) -> tuple[Property, ...]:
        return self._declarations.effective_properties(self._declarations.model.target(prop))


def _main_table(entity: Entity) -> Table:
    if entity.kind in ADDITIONS_KINDS:
        return Table(TableKind.EXTENSION, TableName((entity.name + _EXTENSION,)))
    return Table(TableKind.MAIN, TableName((resource_name(entity),)))


def _table(kind: TableKind, name: TableName, path: PropertyPath, enclosing: Iterable[Column]) -> Table:
    columns = {column.id: column for column in enclosing}
    return Table(kind, name, path, tuple(columns), columns)


def _ordered_properties(entity: Entity) -> list[Property]:
    """Properties in declaration order, except that the unique id of a person is last."""
    if not has_surrogate_id(entity):
        return [prop for prop in entity.properties if not prop.is_common_extension]
    return sorted(entity.properties, key=lambda prop: prop.is_identity)


def _in_place(prop: Property, place: ColumnPosition) -> ColumnPosition:
    """The place of the members of an inline common or choice: columns of the same table."""
    if prop.type is PropertyType.CHOICE:
        return replace(place.below(prop, ""), is_nullable=True)
    return replace(place.below(prop, role_prefix(prop)), is_nullable=place.is_nullable or prop.is_optional)


def _collection_name(prop: Property, place: ColumnPosition, around: TableName) -> TableName:
    role = (prop.role_name,) if prop.role_name and prop.role_name != prop.name else ()
    own = (*place.context, *role, prop.name)
    if prop.type.is_reference:
        return TableName(around.parts, own)
    return TableName((*around.parts, *own))
