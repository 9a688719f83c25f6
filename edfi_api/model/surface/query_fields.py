"""The query parameters: the columns of a document's main table, under names with all roles of their paths; and the
types of the values in a body by path: numbers, dates, and decimals with their digits.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator
from decimal import Decimal
from typing import Any

from edfi_api.model.metaed.core_names import IDENTIFICATION_CODES
from edfi_api.model.metaed.model import Property, PropertyType
from edfi_api.model.surface.columns import UNIQUE_ID, Column, Table
from edfi_api.model.surface.constraints import Lookup
from edfi_api.model.surface.naming import joined_without_overlap, lower_camel
from edfi_api.model.surface.path_table import Terminal, Value
from edfi_api.model.surface.resource import (
    ALL_ITEMS,
    DecimalLimit,
    JsonPath,
    OtherName,
    QueryField,
    QueryType,
    ValuePaths,
)

BOOLEANS = frozenset({PropertyType.BOOLEAN})
NUMBERS = frozenset(
    {
        PropertyType.CURRENCY,
        PropertyType.DECIMAL,
        PropertyType.INTEGER,
        PropertyType.PERCENT,
        PropertyType.SCHOOL_YEAR_ENUMERATION,
        PropertyType.SHARED_DECIMAL,
        PropertyType.SHARED_INTEGER,
        PropertyType.SHARED_SHORT,
        PropertyType.SHORT,
        PropertyType.YEAR,
    }
)
DATES = frozenset({PropertyType.DATE})
DATE_TIMES = frozenset({PropertyType.DATETIME})
DECIMALS = frozenset({PropertyType.DECIMAL, PropertyType.SHARED_DECIMAL})
CURRENCY_DIGITS = (19, 4)
PERCENT_DIGITS = (5, 4)
ID_FIELD = QueryField("id", QueryType.STRING, (JsonPath(("id",)),))
_TYPES = {
    PropertyType.BOOLEAN: QueryType.BOOLEAN,
    PropertyType.DATE: QueryType.DATE,
    PropertyType.DATETIME: QueryType.DATE_TIME,
    PropertyType.TIME: QueryType.TIME,
    PropertyType.DESCRIPTOR: QueryType.DESCRIPTOR,
} | dict.fromkeys(NUMBERS, QueryType.NUMBER)


def value_paths(terminals: Iterable[Terminal]) -> ValuePaths:
    """The paths of values that clients can write in more than one form."""
    values = list(_present_values(terminals))
    return ValuePaths(
        booleans=_paths(values, BOOLEANS),
        numbers=_paths(values, NUMBERS),
        dates=_paths(values, DATES),
        date_times=_paths(values, DATE_TIMES),
    )


def decimal_limits(terminals: Iterable[Terminal]) -> tuple[DecimalLimit, ...]:
    """Sorted by path, each path once."""
    props = {value.named_path: value.prop for value in _present_values(terminals)}
    limits = [
        DecimalLimit(path, *digits, _decimal(prop.min_value), _decimal(prop.max_value))
        for path, prop in props.items()
        if (digits := _digits(prop)) is not None
    ]
    return tuple(sorted(limits, key=lambda limit: str(limit.path)))


def _present_values(terminals: Iterable[Terminal]) -> Iterator[Value]:
    return (value for terminal in terminals for value in terminal.values if value.is_present)


def _paths(values: Iterable[Value], types: frozenset[PropertyType]) -> tuple[JsonPath, ...]:
    return tuple(sorted({value.named_path for value in values if value.prop.type in types}, key=str))


def _decimal(bound: int | Decimal | None) -> Decimal | None:
    return None if bound is None else Decimal(bound)


def _digits(prop: Property) -> tuple[int, int] | None:
    if prop.type is PropertyType.CURRENCY:
        return CURRENCY_DIGITS
    if prop.type is PropertyType.PERCENT:
        return PERCENT_DIGITS
    if prop.type in DECIMALS and prop.total_digits is not None and prop.decimal_places is not None:
        return prop.total_digits, prop.decimal_places
    return None


def query_fields(main: Table, inherited: Table | None, lookup: Lookup) -> tuple[QueryField, ...]:
    """The fields of a document with this main table, and those of the superclass's table except its key.

    Columns with the same name share a field, key columns first.
    """
    columns = [*main.columns.values(), *_without_key(inherited)]
    by_name: dict[str, list[Column]] = defaultdict(list)
    for column in sorted(columns, key=lambda column: (not column.is_key, column.id)):
        by_name[field_name(column)].append(column)
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


def field_name(column: Column) -> str:
    """`SchoolId` → `schoolId`. The databases' suffixes `Id` of descriptors and `USI` of people are not in the API."""
    parts = column.parts
    if column.is_surrogate:
        parts = (*parts[:-1], UNIQUE_ID)
    elif column.prop.type is PropertyType.DESCRIPTOR:
        parts = parts[:-1]
    return lower_camel(joined_without_overlap(parts))


def code_fields(
    schema: dict[str, Any],
    fields: Iterable[QueryField],
    descriptors: Collection[JsonPath],
    ods_names: Iterable[OtherName] = (),
) -> tuple[QueryField, ...]:
    """The fields of identification codes, which are collections at the root of a document with this schema: scalars of
    their items, under their names in the ODS/API. A name that one of the other `fields` has already is that field's."""
    taken = {field.name.lower() for field in fields}
    others = {other.path: other.name for other in ods_names}
    found: dict[str, QueryField] = {}
    for collection, array in schema["properties"].items():
        if array["type"] != "array" or not collection.lower().endswith(IDENTIFICATION_CODES.lower()):
            continue
        for name, member in array["items"].get("properties", {}).items():
            path = JsonPath((collection, ALL_ITEMS, name))
            called = others.get(path, name)
            if member["type"] not in ("object", "array") and called.lower() not in taken:
                field_type = QueryType.DESCRIPTOR if path in descriptors else _type_in_schema(member)
                found.setdefault(called, QueryField(called, field_type, (path,)))
    return tuple(found.values())


def _type_in_schema(member: dict[str, Any]) -> QueryType:
    if member["type"] in ("integer", "number"):
        return QueryType.NUMBER
    if member["type"] == "boolean":
        return QueryType.BOOLEAN
    formats = {each.value: each for each in (QueryType.DATE, QueryType.DATE_TIME, QueryType.TIME)}
    return formats.get(member.get("format", ""), QueryType.STRING)


def query_type(prop: Property) -> QueryType:
    return _TYPES.get(prop.type, QueryType.STRING)
