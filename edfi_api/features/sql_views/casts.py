"""The type of a property's column, and the SQL that reads its value out of a body.

No accepted document makes a cast fail: values that the type of the column has no room for, though the API accepts
them, are NULL.
"""

from __future__ import annotations

from collections.abc import Iterable

from edfi_api.model.metaed.model import Property, PropertyType

INTEGER = "INT"
SMALL_INTEGER = "SMALLINT"
_TYPES = {
    PropertyType.BOOLEAN: "BOOLEAN",
    PropertyType.CURRENCY: "MONEY",
    PropertyType.DATE: "DATE",
    PropertyType.DATETIME: "TIMESTAMP",
    PropertyType.DURATION: "VARCHAR(30)",
    PropertyType.PERCENT: "NUMERIC(5,4)",
    PropertyType.TIME: "TIME",
    PropertyType.YEAR: SMALL_INTEGER,
    PropertyType.SHORT: SMALL_INTEGER,
    PropertyType.SHARED_SHORT: SMALL_INTEGER,
    PropertyType.SCHOOL_YEAR_ENUMERATION: SMALL_INTEGER,
    # Keys of rows, and 32 bits whatever a shared integer says.
    PropertyType.DESCRIPTOR: INTEGER,
    PropertyType.ENUMERATION: INTEGER,
    PropertyType.SHARED_INTEGER: INTEGER,
}
_SHORT = (-(2**15), 2**15 - 1)
_TEXTS = frozenset(
    {
        PropertyType.DATE,
        PropertyType.DATETIME,
        PropertyType.DURATION,
        PropertyType.SHARED_STRING,
        PropertyType.STRING,
        PropertyType.TIME,
    }
)
_MONEY = "MONEY"


def column_type(prop: Property) -> str:
    """The SQL type of a scalar property's column."""
    match prop.type:
        case PropertyType.STRING | PropertyType.SHARED_STRING:
            return f"VARCHAR({prop.max_length})"
        case PropertyType.DECIMAL | PropertyType.SHARED_DECIMAL:
            return f"NUMERIC({prop.total_digits},{prop.decimal_places})"
        case PropertyType.INTEGER:
            return "BIGINT" if prop.is_big else INTEGER
        case _:
            return _TYPES[prop.type]


def text(base: str, steps: Iterable[str]) -> str:
    """The value as text."""
    *way, last = steps
    return f"({'->'.join((base, *map(literal, way)))}->>{literal(last)})"


def code_value(base: str, steps: Iterable[str]) -> str:
    """The code value at the end of the URI of a descriptor: what follows `#`, which no namespace has."""
    uri = text(base, steps)
    return f"substr({uri}, strpos({uri}, '#') + 1)"


def json(base: str, steps: Iterable[str]) -> str:
    """The value as JSON."""
    return f"({'->'.join((base, *map(literal, steps)))})"


def cast(base: str, steps: Iterable[str], prop: Property, type_: str) -> str:
    """The value of a scalar property in its type."""
    steps = tuple(steps)
    if prop.type in _TEXTS:
        return f"{text(base, steps)}::{type_}"
    value = json(base, steps)
    if type_ == _MONEY:
        return f"{value}::numeric::money"
    if type_ == SMALL_INTEGER and not _is_short(prop):
        return small_integer(value)
    return f"{value}::{type_}"


def small_integer(value: str) -> str:
    """A JSON number as smallint, NULL if that has no room for it."""
    lowest, highest = _SHORT
    return f"CASE WHEN {value}::numeric BETWEEN {lowest} AND {highest} THEN {value}::smallint END"


def _is_short(prop: Property) -> bool:
    """Return whether the limits of the API exclude what smallint has no room for."""
    if prop.type is PropertyType.SCHOOL_YEAR_ENUMERATION:
        return True
    lowest, highest = prop.min_value, prop.max_value
    return lowest is not None and highest is not None and _SHORT[0] <= lowest and highest <= _SHORT[1]


def literal(value: str) -> str:
    """A string constant."""
    return "'" + value.replace("'", "''") + "'"
