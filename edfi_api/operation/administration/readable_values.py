"""The values of a body in the words of people: `First name: Mae`, `Grade levels: Ninth grade, Tenth grade`."""

import json
import re
from collections.abc import Collection, Iterator, Mapping
from typing import Any

from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from edfi_api.model.surface.naming import is_descriptor_name

# The parameter of the page of a document with values to mark in its body.
MARK = "mark"
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_SUFFIX = re.compile(r" (?:descriptor|reference)$")
_MOST_ITEMS = 5
_LONGEST = 200


def readable_values(body: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Label and text of each member that is no reference; lists are cut after some items."""
    shown = ((name, _text(name, value)) for name, value in body.items() if not _is_reference(name, value))
    return [(words(name), text) for name, text in shown if text]


def marked_body(body: Mapping[str, Any], values: Collection[str]) -> SafeString:
    """The body as indented JSON, with the lines marked that have one of these values."""
    lines = json.dumps(body, indent=2, ensure_ascii=False).split("\n")
    shown = (format_html("<mark>{}</mark>", line) if _has_one_of(line, values) else line for line in lines)
    return format_html("<pre>{}</pre>", format_html_join("\n", "{}", ((line,) for line in shown)))


def _has_one_of(line: str, values: Collection[str]) -> bool:
    value = line.strip().rstrip(",").rpartition(": ")[2].strip('"')
    return bool(value) and value in values


def words(name: str) -> str:
    """`entryGradeLevelDescriptor` → `Entry grade level`."""
    return _SUFFIX.sub("", _HUMP.sub(" ", name).lower()).capitalize()


def _is_reference(name: str, value: Any) -> bool:
    return name.endswith("Reference") and isinstance(value, dict)


def _text(name: str, value: Any) -> str:
    if isinstance(value, list):
        shown = [text for item in value[:_MOST_ITEMS] if (text := _text(name, item))]
        more = f" and {len(value) - _MOST_ITEMS} more" if len(value) > _MOST_ITEMS else ""
        return f"{', '.join(shown)}{more}" if shown else ""
    if isinstance(value, dict):
        return " ".join(_texts(value))
    if isinstance(value, bool):
        return "yes" if value else "no"
    text = str(value)
    return (text.rpartition("#")[2] if is_descriptor_name(name) else text)[:_LONGEST]


def _texts(item: Mapping[str, Any]) -> Iterator[str]:
    for name, value in item.items():
        if not isinstance(value, list) and (text := _text(name, value)):
            yield text
