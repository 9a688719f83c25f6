"""The tables that Ed-Fi's relational databases have for an entity (its main table and those of commons and
collections), their columns, and those by which they refer to each other.

Nothing is stored this way here. But in those databases, values with the same column name in one table share a column
and so must be equal even without a merge, and query parameters are named after columns; the SQL views have the shape
of these tables.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from enum import StrEnum

from edfi_api.model.metaed.model import (
    ADDITIONS_KINDS,
    CORE_NAMESPACE,
    DESCRIPTOR_SUFFIX,
    Cardinality,
    Entity,
    EntityKind,
    Merge,
    Property,
    PropertyType,
)
from edfi_api.model.surface.declarations import Declarations
from edfi_api.model.surface.identity import Identities
from edfi_api.model.surface.naming import joined_without_overlap, resource_name, role_prefix, with_suffix
from edfi_api.model.surface.path_table import PropertyPath

_EXTENSION = "Extension"
# In the databases, the key of a person is not the unique id but a surrogate number, the USI.
UNIQUE_ID = "UniqueId"
SURROGATE_ID = "USI"
ENUMERATION_SUFFIX = "Type"
_CODED_TYPES = frozenset({PropertyType.DESCRIPTOR, PropertyType.ENUMERATION, PropertyType.SCHOOL_YEAR_ENUMERATION})
_ENTITY_WITH_BASE_KEY = ADDITIONS_KINDS | {EntityKind.DOMAIN_ENTITY_SUBCLASS, EntityKind.ASSOCIATION_SUBCLASS}


@dataclass(frozen=True, slots=True)
class Conflict:
    """Two values of a document that share a column."""

    present: Column
    new: Column


class TableKind(StrEnum):
    """The kind of thing that the rows of a table are."""

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


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a document's table: `parts` joined are its id, `path` is the property path of its value.

    `prop` is the scalar property at the end of that path. `other_paths` are those of further values that share the
    column.
    """

    parts: tuple[str, ...]
    path: PropertyPath
    prop: Property
    is_key: bool = False
    is_nullable: bool = False
    is_identity_value: bool = False
    is_surrogate: bool = False
    other_paths: tuple[PropertyPath, ...] = ()

    @property
    def id(self) -> str:
        return "".join(self.parts)

    @property
    def is_coded(self) -> bool:
        return self.prop.type in _CODED_TYPES

    @property
    def paths(self) -> tuple[PropertyPath, ...]:
        return (self.path, *self.other_paths)

    def prefixed(self, prefix: str) -> Column:
        return replace(self, parts=(*_given(prefix), *self.parts))

    def united_with(self, other: Column) -> Column:
        """Return this column, holding the values of both; it can be null only if both can."""
        is_key = self.is_key or other.is_key
        return replace(
            self,
            is_key=is_key,
            is_nullable=self.is_nullable and other.is_nullable and not is_key,
            is_identity_value=self.is_identity_value or other.is_identity_value,
            other_paths=(*self.other_paths, *(path for path in other.paths if path not in self.paths)),
        )


@dataclass(frozen=True, slots=True)
class MergedAway:
    """The properties that the merge directives of a reference or common remove, with all columns below them.

    Only sources of two or three steps apply, and only those of the innermost reference with directives, as in the
    official generators: the remaining columns are visible as query parameters.
    """

    start: int = 0
    merges: tuple[Merge, ...] = ()

    def within(self, carrier: Property, path: PropertyPath) -> MergedAway:
        """Below a property at this path, which may have directives of its own."""
        if not carrier.merges:
            return self
        return MergedAway(len(path) - 1, carrier.merges)

    def removes(self, prop: Property, path: PropertyPath) -> bool:
        """Return whether a source ends at this property. A merge never removes the column of a school year."""
        if prop.type is PropertyType.SCHOOL_YEAR_ENUMERATION:
            return False
        sources = (merge.source for merge in self.merges if len(merge.source) in (2, 3))
        return path[self.start :] in sources

    def with_target(self, column: Column) -> Column:
        """The column, holding also the value with which its own is merged."""
        around, below = column.path[: self.start], column.path[self.start :]
        targets = [
            (*around, *merge.target, *below[len(merge.source) :])
            for merge in self.merges
            if below[: len(merge.source)] == merge.source
        ]
        return replace(column, other_paths=(*column.other_paths, *targets))


NOTHING_MERGED = MergedAway()


@dataclass(frozen=True, slots=True)
class ColumnPosition:
    """The position of the next columns in a table and in the model.

    `context` are the prefixes of the enclosing inline commons. Below an optional inline common or a choice every
    column can be null; in an optional single common the identity is no key (`has_keys`).
    """

    context: tuple[str, ...] = ()
    path: PropertyPath = ()
    is_nullable: bool = False
    has_keys: bool = True
    merged: MergedAway = NOTHING_MERGED

    def below(self, prop: Property, prefix: str) -> ColumnPosition:
        return replace(self, context=(*self.context, *_given(prefix)), path=(*self.path, prop.full_name))


class KeyColumns:
    """The columns of single properties, and the key columns that tables inherit from each other."""

    def __init__(self, declarations: Declarations, identities: Identities) -> None:
        self._declarations = declarations
        self._identities = identities

    def columns(self, prop: Property, place: ColumnPosition) -> Iterator[Column]:
        """The columns of a property that is neither a collection nor a common."""
        if prop.type.is_reference:
            return self._as_declared(self.reference_columns(prop, place), prop, place, is_key=prop.is_identity)
        is_removed = place.merged.removes(prop, (*place.path, prop.full_name))
        columns = () if is_removed else (_role_column(prop, place),)
        is_key = prop.is_identity and place.has_keys and not place.is_nullable
        return self._as_declared(columns, prop, place, is_key=is_key)

    def item_columns(self, prop: Property, place: ColumnPosition) -> Iterator[Column]:
        """The columns of an item that is not a common; names of descriptors and scalars have no role."""
        columns = self.reference_columns(prop, place) if prop.type.is_reference else (_scalar_column(prop, "", place),)
        return (replace(column, is_key=True) for column in columns)

    def reference_columns(self, reference: Property, place: ColumnPosition) -> Iterator[Column]:
        """The key columns of the referenced table, under the role of the reference."""
        below = place.below(reference, "")
        if place.merged.removes(reference, below.path):
            return
        below = replace(below, merged=place.merged.within(reference, below.path))
        prefix = role_prefix(reference)
        for column in self.key_columns(self._target(reference), below):
            has_prefix = reference.is_identity and not column.is_coded and role_prefix(column.prop) == prefix
            yield column if has_prefix else column.prefixed(prefix)

    def referenced_key(self, prop: Property, place: ColumnPosition) -> list[Column] | None:
        """The key of the table to which a property refers, those of its columns included that are merged away; None for
        a property that is no reference."""
        if prop.type.is_reference:
            below = ColumnPosition(path=(*place.path, prop.full_name))
            merged = place.merged.within(prop, below.path)
            return united(merged.with_target(column) for column in self.key_columns(self._target(prop), below))
        return [_scalar_column(prop, "", place)] if prop.type in _CODED_TYPES else None

    def key_columns(self, entity: Entity, place: ColumnPosition) -> list[Column]:
        """The columns by which other tables refer to the entity, sorted by id.

        A merge with the unique id of a person does not remove its surrogate id, which is another property.
        """
        if has_surrogate_id(entity):
            place = replace(place, merged=NOTHING_MERGED)
        columns = [column for prop in self._own_key(entity) for column in self._key_of(prop, place)]
        if has_surrogate_id(entity):
            columns = [replace(c, parts=(*c.parts[:-1], SURROGATE_ID), is_surrogate=True) for c in columns]
        if has_base_key(entity):
            columns += self._base_key(entity, place)
        return sorted(columns, key=sort_key)

    @staticmethod
    def _as_declared(
        columns: Iterable[Column], prop: Property, place: ColumnPosition, *, is_key: bool
    ) -> Iterator[Column]:
        is_nullable = not is_key and (prop.is_optional or place.is_nullable)
        return (replace(column, is_key=is_key, is_nullable=is_nullable) for column in columns)

    def _own_key(self, entity: Entity) -> list[Property]:
        """The unique id of a person, the renaming property of a subclass, otherwise the identity."""
        if entity.kind in _ENTITY_WITH_BASE_KEY:
            return [prop for prop in entity.properties if prop.is_identity]
        properties = self._identities.identity_properties(entity)
        return [p for p in properties if p.name == UNIQUE_ID] if has_surrogate_id(entity) else properties

    def _key_of(self, prop: Property, place: ColumnPosition) -> Iterable[Column]:
        below = place.below(prop, role_prefix(prop))
        if place.merged.removes(prop, below.path):
            return ()
        if prop.type is PropertyType.INLINE_COMMON:
            return self.key_columns(self._target(prop), below)
        if prop.type.is_reference:
            below = replace(below, merged=place.merged.within(prop, below.path))
            return self.key_columns(self._target(prop), below)
        return (_role_column(prop, place),)

    def _base_key(self, entity: Entity, place: ColumnPosition) -> list[Column]:
        """The base's key. Below a reference its path has an empty step and so does not resolve; therefore the members
        of a reference to an association subclass are no query parameters, here as in the official servers."""
        base = self._declarations.model.base(entity)
        if base is None:
            return []
        return self.key_columns(base, replace(place, path=(*place.path, "") if place.path else ()))

    def _target(self, prop: Property) -> Entity:
        return self._declarations.model.target(prop)


def united(columns: Iterable[Column]) -> list[Column]:
    """One column for each id, which holds the values of all that have it."""
    found: dict[str, Column] = {}
    for column in columns:
        found[column.id] = found[column.id].united_with(column) if column.id in found else column
    return list(found.values())


def sort_key(column: Column) -> tuple[str, str]:
    """The order of columns: by id without regard to case, and of equal ones lower case first."""
    return column.id.lower(), column.id.swapcase()


def has_surrogate_id(entity: Entity) -> bool:
    """Return whether it is a person: an entity of the core that is identified by a unique id."""
    is_core = entity.kind is EntityKind.DOMAIN_ENTITY and entity.namespace == CORE_NAMESPACE
    return is_core and any(prop.is_identity and prop.name == UNIQUE_ID for prop in entity.properties)


def has_base_key(entity: Entity) -> bool:
    """Return whether it has the key of its base, as additions do, and subclasses that rename nothing."""
    return entity.kind in _ENTITY_WITH_BASE_KEY and not any(prop.is_identity for prop in entity.properties)


def _role_column(prop: Property, place: ColumnPosition) -> Column:
    return _scalar_column(prop, role_prefix(prop), place)


def _scalar_column(prop: Property, prefix: str, place: ColumnPosition) -> Column:
    return Column(
        parts=(*place.context, *_given(prefix), *_column_name(prop)),
        path=(*place.path, prop.full_name),
        prop=prop,
        is_identity_value=prop.is_identity,
    )


def _column_name(prop: Property) -> tuple[str, ...]:
    match prop.type:
        case PropertyType.DESCRIPTOR:
            return with_suffix(prop.name, DESCRIPTOR_SUFFIX), "Id"
        case PropertyType.ENUMERATION:
            return with_suffix(prop.name, ENUMERATION_SUFFIX), "Id"
        case _:
            return (prop.name,)


def _given(prefix: str) -> tuple[str, ...]:
    return (prefix,) if prefix else ()
