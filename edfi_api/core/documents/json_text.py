"""JSON text to values and back without loss of digits.

orjson reads decimals as doubles, which hold fifteen digits; Ed-Fi's currencies have nineteen. Text with longer numbers
or larger exponents is parsed by the slower `json` module into `Decimal`. Other numbers survive the conversion to a
double and back.
"""

import json
import re
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import orjson

# Sixteen digits, or an exponent of three; `1e-400` as a double is 0.
_MAY_EXCEED_A_DOUBLE = re.compile(rb"\d(?:[\d.]{15}|[eE][+-]?\d{3})")
# A search for this in a text with 0 in place of other digits takes an eighth of the time of the expression.
_SIXTEEN_DIGITS = b"0" * 16
_WITH_ZEROS = bytes.maketrans(b"123456789.", _SIXTEEN_DIGITS[:10])
_LARGEST_INTEGER = 2**63 - 1


def loads(text: bytes) -> Any:
    """The value of a JSON text that PostgreSQL or `dumps` has written: neither writes exponents of three digits.

    Raises orjson.JSONDecodeError.
    """
    value = orjson.loads(text)
    return with_every_digit(text, value) if _SIXTEEN_DIGITS in text.translate(_WITH_ZEROS) else value


def with_every_digit(text: bytes, value: Any, decimal: Callable[[str], Decimal] = Decimal) -> Any:
    """`value`, which orjson has parsed from `text`; parsed again with `decimal` if a number may not fit."""
    if not _MAY_EXCEED_A_DOUBLE.search(text):
        return value
    return json.loads(text, parse_float=decimal, parse_int=lambda digits: as_integer(decimal(digits)))


def dumps(value: Any) -> bytes:
    """The JSON text of a value as `loads` returns it."""
    return orjson.dumps(value, default=exact_number)


def as_integer(number: Decimal | float) -> int | Decimal:
    """An integer as `dumps` can write it: orjson supports integers of 64 bits only."""
    return int(number) if -_LARGEST_INTEGER <= number <= _LARGEST_INTEGER else Decimal(number)


def exact_number(value: object) -> orjson.Fragment:
    """orjson's `default`: writes a Decimal with all its digits. Raises TypeError for other types."""
    if isinstance(value, Decimal):
        return orjson.Fragment(f"{value:f}")
    raise TypeError(f"{type(value).__name__} is not a JSON value")
