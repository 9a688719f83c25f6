"""The query parameters: the columns of a document's main table, under names with all roles of their paths."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from edfi_api.model.metaed.model import Property, PropertyType
from edfi_api.model.surface.columns import UNIQUE_ID, Column
from edfi_api.model.surface.constraints import Lookup
from edfi_api.model.surface.naming import joined_without_overlap, lower_camel
from edfi_api.model.surface.resource import JsonPath, QueryField, QueryType
from edfi_api.model.surface.tables import Table
from edfi_api.model.surface.values import NUMBERS

ID_FIELD = QueryField("id", QueryType.STRING, (JsonPath(("id",)),))

_TYPES = {
    PropertyType.BOOLEAN: QueryType.BOOLEAN,
    PropertyType.DATE: QueryType.DATE,
    PropertyType.DATETIME: QueryType.DATE_TIME,
    PropertyType.TIME: QueryType.TIME,
    PropertyType.DESCRIPTOR: QueryType.DESCRIPTOR,
} | dict.fromkeys(NUMBERS, QueryType.NUMBER)


def query_fields(main: Table, inherited: Table | None, lookup: Lookup) -> tuple[QueryField, ...]:
    """The fields of a document with this main table, and those of the superclass's table except its key.

    Columns with the same name share a field, key columns first.
    """
    columns = [*main.columns.values(), *_without_key(inherited)]
    by_name: dict[str, list[Column]] = defaultdict(list)
    for column in sorted(columns, key=lambda column: (not column.is_key, column.id)):
        by_name[_field_name(column)].append(column)
    fields = (_field(name, same_name, lookup) for name, same_name in by_name.items())
    return (ID_FIELD, *(field for field in fields if field.paths))


def _without_key(table: Table | None) -> Iterable[Column]:
    return () if table is None else (column for column in table.columns.values() if not column.is_key)


def _field(name: str, columns: Iterable[Column], lookup: Lookup) -> QueryField:
    """The field of these columns; a column whose path does not resolve adds no path."""
    found = [(column, value.path) for column in columns for value in lookup(column.path)]
    paths = dict.fromkeys(path for _, path in found)
    field_type = query_type(found[0][0].prop) if found else QueryType.STRING
    return QueryField(name, field_type, tuple(paths))


def _field_name(column: Column) -> str:
    """`SchoolId` → `schoolId`. The databases' suffixes `Id` of descriptors and `USI` of people are not in the API."""
    parts = column.parts
    if column.is_surrogate:
        parts = (*parts[:-1], UNIQUE_ID)
    elif column.prop.type is PropertyType.DESCRIPTOR:
        parts = parts[:-1]
    return lower_camel(joined_without_overlap(parts))


def query_type(prop: Property) -> QueryType:
    return _TYPES.get(prop.type, QueryType.STRING)
