"""JSON text of a body → object. Rejects duplicate properties, which parsers drop silently, and bodies whose values or
numbers exceed `limits`."""

import json
import re
from collections import Counter
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import orjson

from edfi_api.documents import json_text
from edfi_api.documents.exceptions import DocumentTooLarge, DuplicateProperty, EmptyBody, MalformedJson
from edfi_api.documents.limits import MOST_DIGITS, MOST_DIGITS_OF_AN_EXPONENT, MOST_VALUES
from edfi_api.documents.violations import as_many_as_reported

_BOUNDED_NUMBER = re.compile(
    rf"-?[\d.]{{1,{MOST_DIGITS + 1}}}([eE][+-]?\d{{1,{MOST_DIGITS_OF_AN_EXPONENT}}})?", re.ASCII
)
_LONGEST_NAME_REPORTED = 100
_LONGEST_NUMBER_REPORTED = 40


def parse(text: bytes) -> dict[str, Any]:
    """The JSON object. Raises EmptyBody, DocumentTooLarge, MalformedJson or DuplicateProperty."""
    if not text.strip():
        raise EmptyBody
    _refuse_too_many_values(text)
    try:
        value = orjson.loads(text)
    except orjson.JSONDecodeError as error:
        raise MalformedJson(str(error)) from error
    if not isinstance(value, dict):
        raise MalformedJson("a JSON object is expected")
    if _may_have_lost_properties(text, value):
        _refuse_duplicates(text)
    body: dict[str, Any] = json_text.with_every_digit(text, value, _decimal)
    return body


def _refuse_too_many_values(text: bytes) -> None:
    """Counts commas and opening brackets: each value but the first follows one.

    Those inside strings are counted too; a string with enough of them to matter is longer than any member allows.
    """
    if text.count(b",") + text.count(b"[") + text.count(b"{") >= MOST_VALUES:
        raise DocumentTooLarge("values", MOST_VALUES)


def _decimal(text: str) -> Decimal:
    if not _BOUNDED_NUMBER.fullmatch(text):
        start = text if len(text) <= _LONGEST_NUMBER_REPORTED else f"{text[:_LONGEST_NUMBER_REPORTED]}..."
        raise MalformedJson(
            f"the number {start} has more than {MOST_DIGITS} digits, or more than {MOST_DIGITS_OF_AN_EXPONENT} in its "
            "exponent"
        )
    return Decimal(text)


def _may_have_lost_properties(text: bytes, value: dict[str, Any]) -> bool:
    """Whether the serialised value has fewer quotes than the text.

    Counting costs a hundredth of a parser with hooks. Each dropped property drops its quotes; a quote that is
    written as a Unicode escape is counted in the output only, so texts with such escapes always take the slower parser.
    """
    try:
        written = orjson.dumps(value)
    except orjson.JSONEncodeError as error:  # it writes 254 levels, a quarter of what it reads
        raise MalformedJson("it is nested too deeply") from error
    return b"\\u" in text or text.count(b'"') != written.count(b'"')


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
