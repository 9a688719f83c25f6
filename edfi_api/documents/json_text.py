"""JSON text to values and back, with every digit of every number.

orjson reads decimals into doubles, which hold fifteen digits; Ed-Fi's currencies have nineteen. Text with longer
numbers takes a slower way, through `Decimal`. Shorter ones come back from a double as they were.
"""

import json
import re
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import orjson

_MAY_EXCEED_A_DOUBLE = re.compile(rb"\d[\d.]{15}")
_LARGEST_INTEGER = 2**63 - 1


def loads(text: bytes) -> Any:
    """The value of a JSON text; orjson.JSONDecodeError if it is none."""
    return with_every_digit(text, orjson.loads(text))


def with_every_digit(text: bytes, value: Any, decimal: Callable[[str], Decimal] = Decimal) -> Any:
    """`value`, which orjson has read from `text`, or the same with its long numbers exact, as `decimal` reads them."""
    if not _MAY_EXCEED_A_DOUBLE.search(text):
        return value
    return json.loads(text, parse_float=decimal, parse_int=lambda digits: as_integer(decimal(digits)))


def dumps(value: Any) -> bytes:
    """The JSON text of a value that `loads` may have read."""
    return orjson.dumps(value, default=exact_number)


def as_integer(number: Decimal | float) -> int | Decimal:
    """A whole number in the form that `dumps` can write: orjson knows integers of 64 bits only."""
    return int(number) if -_LARGEST_INTEGER <= number <= _LARGEST_INTEGER else Decimal(number)


def exact_number(value: object) -> orjson.Fragment:
    """How orjson writes what it does not know: a Decimal with all its digits."""
    if isinstance(value, Decimal):
        return orjson.Fragment(f"{value:f}")
    raise TypeError(f"{type(value).__name__} is no JSON value")
