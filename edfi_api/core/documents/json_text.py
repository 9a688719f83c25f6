"""JSON text of bodies to values and back: no digit is lost, duplicate properties are refused, and so are bodies whose
values or numbers exceed the limits for one document.

Each step of a request visits every value of the body, and each reference is a row in the database. The limit of the
body's bytes alone does not bound time and memory: ten megabytes can hold three million empty objects. Real documents
stay far below these limits.
"""

import json
import re
from collections import Counter
from collections.abc import Callable, Iterator
from decimal import Decimal
from typing import Any

import orjson

from edfi_api.common.request_body import wrong_byte
from edfi_api.core.documents.exceptions import (
    DocumentTooLarge,
    DuplicateProperty,
    EmptyBody,
    MalformedJson,
    UnreadableText,
)
from edfi_api.core.documents.violations import as_many_as_reported

# Members of objects and items of arrays, at any depth.
MOST_VALUES = 100_000
# References to documents and descriptors, including descriptors in reference keys; repeated ones are counted too.
MOST_REFERENCES = 10_000
# A Decimal accepts any exponent, and `1e-200000000` without one is 200 MB of text. Every double fits these limits.
MOST_DIGITS = 100
MOST_DIGITS_OF_AN_EXPONENT = 3


# orjson reads decimals as doubles, which hold fifteen digits; Ed-Fi's currencies have nineteen. Text with longer
# numbers or larger exponents is parsed by the slower `json` module into `Decimal`. Other numbers survive the
# conversion to a double and back.

# A text is searched with 0 in place of other digits, which takes half of the time, and an eighth for a fixed text.
_SIXTEEN_DIGITS = b"0" * 16
_WITH_ZEROS = bytes.maketrans(b"123456789.", _SIXTEEN_DIGITS[:10])
# Sixteen digits, or an exponent of three; `1e-400` as a double is 0.
_MAY_EXCEED_A_DOUBLE = re.compile(rb"0(?:0{15}|[eE][+-]?000)")
_LARGEST_INTEGER = 2**63 - 1


def loads(text: bytes) -> Any:
    """The value of a JSON text that PostgreSQL or `dumps` has written: neither writes exponents of three digits.

    Raises orjson.JSONDecodeError.
    """
    value = orjson.loads(text)
    return with_every_digit(text, value) if _SIXTEEN_DIGITS in text.translate(_WITH_ZEROS) else value


def with_every_digit(text: bytes, value: Any, decimal: Callable[[str], Decimal] = Decimal) -> Any:
    """`value`, which orjson has parsed from `text`; parsed again with `decimal` if a number may not fit."""
    if not _MAY_EXCEED_A_DOUBLE.search(text.translate(_WITH_ZEROS)):
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


_BOUNDED_NUMBER = re.compile(
    rf"-?[\d.]{{1,{MOST_DIGITS + 1}}}([eE][+-]?\d{{1,{MOST_DIGITS_OF_AN_EXPONENT}}})?", re.ASCII
)
_ESCAPED_QUOTE = rb"\u0022"
_ESCAPED_QUOTES = re.compile(rb"(?<!\\)(?:\\\\)*\\u0022")
# Texts from so many bytes on are long. orjson writes fewer levels than it reads.
_LONG = 2**20
_MOST_LEVELS = 254
_TOO_DEEP = "it is nested too deeply"
_LONGEST_NAME_REPORTED = 100
_LONGEST_NUMBER_REPORTED = 40
# Characters on either side of the place where a text stops being JSON.
_SHOWN = 24


def parse_object(text: bytes) -> dict[str, Any]:
    """The JSON object. Raises EmptyBody, DocumentTooLarge, MalformedJson or DuplicateProperty."""
    if not text.strip():
        raise EmptyBody
    if len(text) >= MOST_VALUES:
        _refuse_too_many_values(text)
    try:
        value = orjson.loads(text)
    except orjson.JSONDecodeError as error:
        _refuse_wrong_bytes(text)
        raise _malformed(str(error), error.doc or "", error.pos) from error
    if not isinstance(value, dict):
        raise _malformed("a JSON object is expected", text[:_SHOWN].decode(errors="replace"), 0)
    if _has_lost_properties(text, value):
        del value  # Not in memory together with the values of the other parser.
        _refuse_duplicates(text)
        value = orjson.loads(text)
    body: dict[str, Any] = with_every_digit(text, value, bounded_decimal)
    return body


def _refuse_wrong_bytes(text: bytes) -> None:
    """orjson does not say where a text is not UTF-8."""
    try:
        text.decode()
    except UnicodeDecodeError as error:
        raise UnreadableText(wrong_byte(error)) from error


def _malformed(reason: str, text: str, place: int) -> MalformedJson:
    """Return an error that quotes what is around the place."""
    before, after = text[max(0, place - _SHOWN) : place], text[place : place + _SHOWN]
    return MalformedJson(reason, text[:_SHOWN].lstrip(), before, after, _is_object(text[:place]))


def _is_object(text: str) -> bool:
    if not text.rstrip().endswith("}"):
        return False
    try:
        return isinstance(orjson.loads(text), dict)
    except orjson.JSONDecodeError:
        return False


def _refuse_too_many_values(text: bytes) -> None:
    """Counts commas and opening brackets: each value but the first follows one.

    Those inside strings are counted too; a string with enough of them to matter is longer than any member allows.
    """
    if text.count(b",") + text.count(b"[") + text.count(b"{") >= MOST_VALUES:
        raise DocumentTooLarge("values", MOST_VALUES)


def bounded_decimal(text: str) -> Decimal:
    """The number of a text. Raises MalformedJson if it has too many digits."""
    if not _BOUNDED_NUMBER.fullmatch(text):
        start = text if len(text) <= _LONGEST_NUMBER_REPORTED else f"{text[:_LONGEST_NUMBER_REPORTED]}..."
        raise MalformedJson(
            f"the number {start} has more than {MOST_DIGITS} digits, or more than {MOST_DIGITS_OF_AN_EXPONENT} in its "
            "exponent"
        )
    return Decimal(text)


def _has_lost_properties(text: bytes, value: dict[str, Any]) -> bool:
    """Return whether the value has fewer quotes than the text: each dropped property drops its own.

    Counting costs a hundredth of a parser with hooks.
    """
    quotes = text.count(b'"')
    if _ESCAPED_QUOTE in text:
        quotes += sum(1 for _ in _ESCAPED_QUOTES.finditer(text))
    return quotes != (_written_quotes(value) if len(text) < _LONG else _quotes(value, _MOST_LEVELS))


def _written_quotes(value: dict[str, Any]) -> int:
    """The quotes of the serialised value. Raises MalformedJson if it is nested more deeply than orjson writes."""
    try:
        return orjson.dumps(value).count(b'"')
    except orjson.JSONEncodeError as error:
        raise MalformedJson(_TOO_DEEP) from error


def _quotes(value: Any, levels: int) -> int:
    """Count the quotes of a value as JSON without serialising it, which would need the memory of a long text twice."""
    if isinstance(value, str):
        return 2 + value.count('"')
    if not isinstance(value, dict | list):
        return 0
    if levels == 0:
        raise MalformedJson(_TOO_DEEP)
    if isinstance(value, list):
        return sum(_quotes(item, levels - 1) for item in value)
    return sum(2 + name.count('"') + _quotes(child, levels - 1) for name, child in value.items())


class _ObjectWithDuplicates(dict[str, Any]):
    repeated: list[str]


def _refuse_duplicates(text: bytes) -> None:
    # Only names matter here, so numbers stay text.
    value = json.loads(text, object_pairs_hook=_object, parse_float=str, parse_int=str)
    if paths := as_many_as_reported(_repeated_paths(value, ())):
        raise DuplicateProperty(paths)


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) == len(pairs):
        return value
    with_duplicates = _ObjectWithDuplicates(value)
    with_duplicates.repeated = [name for name, count in Counter(name for name, _ in pairs).items() if count > 1]
    return with_duplicates


def _repeated_paths(value: Any, steps: tuple[str, ...]) -> Iterator[str]:
    """Steps are joined and cut only for the paths that are reported: a name may be as long as the body."""
    if isinstance(value, _ObjectWithDuplicates):
        yield from (_path((*steps, f".{name}")) for name in value.repeated)
    children = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for step, child in children:
        if isinstance(child, dict | list):
            yield from _repeated_paths(child, (*steps, f".{step}" if isinstance(step, str) else f"[{step}]"))


def _path(steps: tuple[str, ...]) -> str:
    return "$" + "".join(step[:_LONGEST_NAME_REPORTED] for step in steps)
