"""The types of the values in a body by path: numbers, dates, and decimals with their digits."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from edfi_api.model.metaed.model import Property, PropertyType
from edfi_api.model.surface.path_table import Terminal, Value
from edfi_api.model.surface.resource import DecimalLimit, JsonPath, ValuePaths

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
    digits = {value.named_path: _digits(value.prop) for value in _present_values(terminals)}
    limits = [DecimalLimit(path, *limit) for path, limit in digits.items() if limit is not None]
    return tuple(sorted(limits, key=lambda limit: str(limit.path)))


def _present_values(terminals: Iterable[Terminal]) -> Iterator[Value]:
    return (value for terminal in terminals for value in terminal.values if value.is_present)


def _paths(values: Iterable[Value], types: frozenset[PropertyType]) -> tuple[JsonPath, ...]:
    return tuple(sorted({value.named_path for value in values if value.prop.type in types}, key=str))


def _digits(prop: Property) -> tuple[int, int] | None:
    if prop.type is PropertyType.CURRENCY:
        return CURRENCY_DIGITS
    if prop.type is PropertyType.PERCENT:
        return PERCENT_DIGITS
    if prop.type in DECIMALS and prop.total_digits is not None and prop.decimal_places is not None:
        return prop.total_digits, prop.decimal_places
    return None
