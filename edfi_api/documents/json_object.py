"""JSON text of a body → object; refuses duplicate properties, which parsers drop silently.

Source: http-api.md §§5, 12.1.
"""

import json
from collections import Counter
from collections.abc import Iterator
from typing import Any

import orjson

from edfi_api.documents import json_text
from edfi_api.documents.exceptions import DuplicateProperty, EmptyBody, MalformedJson


def parse(text: bytes) -> dict[str, Any]:
    """A JSON object without duplicate properties; EmptyBody, MalformedJson or DuplicateProperty otherwise."""
    if not text.strip():
        raise EmptyBody
    try:
        value = orjson.loads(text)
    except orjson.JSONDecodeError as error:
        raise MalformedJson(str(error)) from error
    if not isinstance(value, dict):
        raise MalformedJson("a JSON object is expected")
    if _may_have_lost_properties(text, value):
        _refuse_duplicates(text)
    return json_text.with_every_digit(text, value)


def _may_have_lost_properties(text: bytes, value: dict[str, Any]) -> bool:
    """Whether fewer quotes would be written than were read.

    Counting costs a hundredth of a parser with hooks. Each lost property takes its quotes with it, and none can
    come back, except that one written as an escape is counted only on the way out.
    """
    try:
        written = orjson.dumps(value)
    except orjson.JSONEncodeError as error:  # it writes 254 levels, a quarter of what it reads
        raise MalformedJson("it is nested too deeply") from error
    return b"\\u" in text or text.count(b'"') != written.count(b'"')


class _ObjectWithDuplicates(dict[str, Any]):
    repeated: list[str]


def _refuse_duplicates(text: bytes) -> None:
    value = json.loads(text, object_pairs_hook=_object)
    if paths := list(_repeated_paths(value, "$")):
        raise DuplicateProperty(paths)


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = _ObjectWithDuplicates(pairs)
    value.repeated = [name for name, count in Counter(name for name, _ in pairs).items() if count > 1]
    return value


def _repeated_paths(value: Any, path: str) -> Iterator[str]:
    if isinstance(value, _ObjectWithDuplicates):
        yield from (f"{path}.{name}" for name in value.repeated)
        for name, child in value.items():
            yield from _repeated_paths(child, f"{path}.{name}")
    elif isinstance(value, list):
        for index, child in enumerate(value):
            yield from _repeated_paths(child, f"{path}[{index}]")
