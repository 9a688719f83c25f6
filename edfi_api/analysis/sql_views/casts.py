"""The SQL that reads one value out of a body, in the type of its column.

No accepted document makes a cast fail: values that the type of the column has no room for, though the API accepts
them, are NULL.
"""

from __future__ import annotations

from collections.abc import Iterable

from edfi_api.analysis.sql_views.column_types import SMALL_INTEGER
from edfi_api.model.metaed.model import Property, PropertyType

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


def text(base: str, steps: Iterable[str]) -> str:
    """The value as text."""
    *way, last = steps
    return f"({'->'.join((base, *map(literal, way)))}->>{literal(last)})"


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
    """Whether the limits of the API exclude what smallint has no room for."""
    if prop.type is PropertyType.SCHOOL_YEAR_ENUMERATION:
        return True
    lowest, highest = prop.min_value, prop.max_value
    return lowest is not None and highest is not None and _SHORT[0] <= lowest and highest <= _SHORT[1]


def literal(value: str) -> str:
    """A string constant."""
    return "'" + value.replace("'", "''") + "'"
