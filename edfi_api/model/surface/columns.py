"""The tables that Ed-Fi's relational databases have for a document, as far as they determine API behaviour.

Nothing is stored this way here. But in those databases, values with the same column name in one table share a column
and so must be equal even without a merge, and query parameters are named after columns. Both are derived from the
tables simulated here.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace

from edfi_api.model.metaed.model import (
    ADDITIONS_KINDS,
    CORE_NAMESPACE,
    Cardinality,
    Entity,
    EntityKind,
    Property,
    PropertyType,
)
from edfi_api.model.surface.declarations import Declarations
from edfi_api.model.surface.identity import Identities
from edfi_api.model.surface.naming import role_prefix
from edfi_api.model.surface.path_table import PropertyPath

# In the databases, the key of a person is not the unique id but a surrogate number, the USI.
UNIQUE_ID = "UniqueId"
SURROGATE_ID = "USI"

_CODED_TYPES = frozenset({PropertyType.DESCRIPTOR, PropertyType.ENUMERATION, PropertyType.SCHOOL_YEAR_ENUMERATION})
_ENTITY_WITH_BASE_KEY = ADDITIONS_KINDS | {EntityKind.DOMAIN_ENTITY_SUBCLASS, EntityKind.ASSOCIATION_SUBCLASS}


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a document's table: `parts` joined are its name, `path` is the property path of its value.

    `prop` is the scalar property at the end of that path.
    """

    parts: tuple[str, ...]
    path: PropertyPath
    prop: Property
    is_key: bool = False
    is_identity_value: bool = False
    is_surrogate: bool = False

    @property
    def id(self) -> str:
        return "".join(self.parts)

    @property
    def is_coded(self) -> bool:
        return self.prop.type in _CODED_TYPES

    def prefixed(self, prefix: str) -> Column:
        return replace(self, parts=(*_given(prefix), *self.parts))


@dataclass(frozen=True, slots=True)
class Conflict:
    """Two values of a document that share a column."""

    present: Column
    new: Column


@dataclass(slots=True)
class Table:
    """Columns by name, and the conflicts found while columns were added."""

    columns: dict[str, Column] = field(default_factory=dict)
    conflicts: list[Conflict] = field(default_factory=list)

    def put(self, column: Column) -> None:
        """Add a column; the first of a name is kept, and surrogate ids never conflict."""
        present = self.columns.get(column.id)
        if present is None:
            self.columns[column.id] = column
            return
        if not present.is_surrogate:
            self.conflicts.append(Conflict(present, column))
        self.columns[column.id] = replace(
            present,
            is_key=present.is_key or column.is_key,
            is_identity_value=present.is_identity_value or column.is_identity_value,
        )

    def take_over_key(self, key: Iterable[Column]) -> None:
        """Replace the key with these columns: of the superclass or extended entity, or a person's surrogate id."""
        self.columns = {name: replace(column, is_key=False) for name, column in self.columns.items()}
        for column in key:
            self.put(replace(column, is_key=True))

    @property
    def key(self) -> list[Column]:
        return [column for column in self.columns.values() if column.is_key]


@dataclass(frozen=True, slots=True)
class _Place:
    """The position of the next columns in a table and in the model."""

    context: tuple[str, ...] = ()
    path: PropertyPath = ()

    def below(self, prop: Property, prefix: str) -> _Place:
        return _Place((*self.context, *_given(prefix)), (*self.path, prop.full_name))


@dataclass(frozen=True, slots=True)
class _MergedAway:
    """The properties that the merge directives of a reference remove from its key, with all columns below them.

    Only sources of two or three steps apply, and only those of the innermost reference with directives, as in the
    official generators: the remaining columns are visible as query parameters.
    """

    start: int = 0
    sources: tuple[PropertyPath, ...] = ()

    def within(self, reference: Property, path: PropertyPath) -> _MergedAway:
        if not reference.merges:
            return self
        sources = tuple(merge.source for merge in reference.merges if len(merge.source) in (2, 3))
        return _MergedAway(len(path) - 1, sources)

    def removes(self, prop: Property, path: PropertyPath) -> bool:
        """Whether a source ends at this property. A merge never removes the column of a school year."""
        return path[self.start :] in self.sources and prop.type is not PropertyType.SCHOOL_YEAR_ENUMERATION


class Tables:
    """Builds the tables of documents and the key columns that they inherit from each other."""

    def __init__(self, declarations: Declarations, identities: Identities) -> None:
        self._declarations = declarations
        self._identities = identities

    def of(self, entity: Entity) -> list[Table]:
        """The main table, then those of commons and collections. Inherited properties are in the tables of the base."""
        main = Table()
        nested = list(self._fill(main, self._ordered_properties(entity), _Place()))
        if _has_surrogate_id(entity) or self._has_base_key(entity):
            main.take_over_key(self._key_columns(entity, _Place(), _MergedAway()))
        return [main, *self._nested_tables(nested, main.key)]

    def main(self, entity: Entity) -> Table:
        return self.of(entity)[0]

    def _ordered_properties(self, entity: Entity) -> list[Property]:
        """Properties in declaration order, except that the unique id of a person is last."""
        if not _has_surrogate_id(entity):
            return [prop for prop in entity.properties if not prop.is_common_extension]
        return sorted(entity.properties, key=lambda prop: prop.is_identity)

    def _fill(self, table: Table, properties: Iterable[Property], place: _Place) -> Iterator[tuple[Property, _Place]]:
        """Add the columns of this table; yields the properties that need tables of their own."""
        for prop in properties:
            if prop.is_collection or prop.type is PropertyType.COMMON:
                yield prop, place
            elif prop.type in (PropertyType.INLINE_COMMON, PropertyType.CHOICE):
                prefix = role_prefix(prop) if prop.type is PropertyType.INLINE_COMMON else ""
                inner = self._declarations.effective_properties(self._target(prop))
                yield from self._fill(table, inner, place.below(prop, prefix))
            else:
                for column in self._columns(prop, place):
                    table.put(column)

    def _columns(self, prop: Property, place: _Place) -> Iterator[Column]:
        """The columns of a property that is neither a collection nor a common."""
        is_reference = prop.type.is_reference
        columns = self._reference_columns(prop, place) if is_reference else [_role_column(prop, place)]
        return (replace(column, is_key=prop.is_identity) for column in columns)

    def _reference_columns(self, reference: Property, place: _Place) -> Iterator[Column]:
        below = place.below(reference, "")
        removed = _MergedAway().within(reference, below.path)
        prefix = role_prefix(reference)
        for column in self._key_columns(self._target(reference), below, removed):
            has_prefix = reference.is_identity and not column.is_coded and role_prefix(column.prop) == prefix
            yield column if has_prefix else column.prefixed(prefix)

    def _key_columns(self, entity: Entity, place: _Place, removed: _MergedAway) -> list[Column]:
        """The columns by which other tables refer to the entity, sorted by name.

        A merge with the unique id of a person does not remove its surrogate id, which is another property.
        """
        if _has_surrogate_id(entity):
            removed = _MergedAway()
        columns = [column for prop in self._own_key(entity) for column in self._key_of(prop, place, removed)]
        if _has_surrogate_id(entity):
            columns = [replace(c, parts=(*c.parts[:-1], SURROGATE_ID), is_surrogate=True) for c in columns]
        if self._has_base_key(entity):
            columns += self._base_key(entity, place, removed)
        return sorted(columns, key=lambda column: column.id)

    def _own_key(self, entity: Entity) -> list[Property]:
        """The unique id of a person, the renaming property of a subclass, otherwise the identity."""
        if entity.kind in _ENTITY_WITH_BASE_KEY:
            return [prop for prop in entity.properties if prop.is_identity]
        properties = self._identities.identity_properties(entity)
        return [p for p in properties if p.name == UNIQUE_ID] if _has_surrogate_id(entity) else properties

    def _key_of(self, prop: Property, place: _Place, removed: _MergedAway) -> Iterable[Column]:
        below = place.below(prop, role_prefix(prop))
        if removed.removes(prop, below.path):
            return ()
        if prop.type is PropertyType.INLINE_COMMON:
            return self._key_columns(self._target(prop), below, removed)
        if prop.type.is_reference:
            return self._key_columns(self._target(prop), below, removed.within(prop, below.path))
        return (_role_column(prop, place),)

    def _has_base_key(self, entity: Entity) -> bool:
        """Whether it has the key of its base, as additions do, and subclasses that rename nothing."""
        return entity.kind in _ENTITY_WITH_BASE_KEY and not any(prop.is_identity for prop in entity.properties)

    def _base_key(self, entity: Entity, place: _Place, removed: _MergedAway) -> list[Column]:
        """The base's key. Below a reference its path has an empty step and so does not resolve; therefore the members
        of a reference to an association subclass are no query parameters, here as in the official servers."""
        base = self._declarations.model.base(entity)
        if base is None:
            return []
        path = (*place.path, "") if place.path else ()
        return self._key_columns(base, _Place(place.context, path), removed)

    def _nested_tables(self, nested: Iterable[tuple[Property, _Place]], parent_key: list[Column]) -> Iterator[Table]:
        """The tables of commons and collections, each beginning with all enclosing keys."""
        for prop, place in nested:
            table = Table({column.id: column for column in parent_key})
            if prop.type is PropertyType.COMMON:
                inner = self._declarations.effective_properties(self._target(prop))
                deeper = list(self._fill(table, inner, place.below(prop, "")))
                is_optional_single = prop.cardinality is Cardinality.OPTIONAL
                yield table
                yield from self._nested_tables(deeper, parent_key if is_optional_single else table.key)
            else:
                for column in self._item_columns(prop, place):
                    table.put(column)
                yield table

    def _item_columns(self, prop: Property, place: _Place) -> Iterable[Column]:
        """The columns of an item that is not a common; names of descriptors and scalars have no role."""
        return self._reference_columns(prop, place) if prop.type.is_reference else [_scalar_column(prop, "", place)]

    def _target(self, prop: Property) -> Entity:
        return self._declarations.model.target(prop)


def _role_column(prop: Property, place: _Place) -> Column:
    return _scalar_column(prop, role_prefix(prop), place)


def _scalar_column(prop: Property, prefix: str, place: _Place) -> Column:
    return Column(
        parts=(*place.context, *_given(prefix), *_column_name(prop)),
        path=(*place.path, prop.full_name),
        prop=prop,
        is_identity_value=prop.is_identity,
    )


def _column_name(prop: Property) -> tuple[str, ...]:
    match prop.type:
        case PropertyType.DESCRIPTOR:
            return prop.name + "Descriptor", "Id"
        case PropertyType.ENUMERATION:
            return prop.name + "Type", "Id"
        case _:
            return (prop.name,)


def _has_surrogate_id(entity: Entity) -> bool:
    is_core = entity.kind is EntityKind.DOMAIN_ENTITY and entity.namespace == CORE_NAMESPACE
    return is_core and any(prop.is_identity and prop.name == UNIQUE_ID for prop in entity.properties)


def _given(prefix: str) -> tuple[str, ...]:
    return (prefix,) if prefix else ()
