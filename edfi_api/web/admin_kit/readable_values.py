"""The values of a body in the words of people: `First name: Mae`, `Grade levels: Ninth grade`; and the form that times
have on pages: `2026-11-27 14:10 UTC`, with the seconds on hover.
"""

import json
import re
from collections.abc import Callable, Collection, Iterator, Mapping
from datetime import datetime
from functools import cache
from typing import Any, NamedTuple

from django.contrib import admin
from django.core.exceptions import FieldDoesNotExist
from django.db.models import DateTimeField, Model
from django.utils import timezone
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from edfi_api.model.surface.naming import is_descriptor_name

# The parameter of the page of a document with values to mark, and the id of the first of them.
MARK = "mark"
MARKED = "marked"
_TARGET = f'<mark id="{MARKED}">{{}}</mark>'
# A line of indented JSON with a value that is neither an object nor a list.
_VALUE_OF_LINE = re.compile(r'\s*(?:"(?:[^"\\]|\\.)*": )?("(?:[^"\\]|\\.)*"|[^\s{}\[\],"]+),?')
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_SUFFIX = re.compile(r" (?:descriptor|reference)$")
_MOST_ITEMS = 5
_LONGEST = 200


class ReadableValue(NamedTuple):
    """`is_marked` if the member has one of the values to mark, at any depth; `is_target` for the first one."""

    label: str
    text: str
    is_marked: bool = False
    is_target: bool = False


def readable_values(body: Mapping[str, Any], marked: Collection[str] = ()) -> list[ReadableValue]:
    """Each member that is no reference; lists are cut after some items."""
    found: list[ReadableValue] = []
    for name, value in body.items():
        if (name.endswith("Reference") and isinstance(value, dict)) or not (text := text_of(name, value)):
            continue
        is_marked = any(_is_one_of(each, marked) for each in _leaves(value))
        is_target = is_marked and not any(each.is_marked for each in found)
        found.append(ReadableValue(words(name), text, is_marked, is_target))
    return found


def marked_body(body: Mapping[str, Any], values: Collection[str]) -> SafeString:
    """The body as indented JSON, with the lines marked that have one of these values. The first is the target of links
    unless the readable values have it."""
    lines = json.dumps(body, indent=2, ensure_ascii=False).split("\n")
    marked = [number for number, line in enumerate(lines) if _has_one_of(line, values)]
    target = marked[0] if marked and is_marked_only_in_body(body, values) else None
    shown = [
        format_html(_TARGET if number == target else "<mark>{}</mark>", line) if number in marked else line
        for number, line in enumerate(lines)
    ]
    return format_html("<pre>{}</pre>", format_html_join("\n", "{}", ((line,) for line in shown)))


def is_marked_only_in_body(body: Mapping[str, Any], values: Collection[str]) -> bool:
    """Return whether values are to be marked, and no readable value has one of them."""
    return bool(values) and not any(each.is_marked for each in readable_values(body, values))


def _has_one_of(line: str, values: Collection[str]) -> bool:
    value = _VALUE_OF_LINE.fullmatch(line)
    return value is not None and _is_one_of(json.loads(value[1]), values)


def _is_one_of(value: Any, values: Collection[str]) -> bool:
    """Return whether the value is among the others, as the API writes it or as Python does."""
    return bool(values) and value not in {"", None} and (str(value) in values or json.dumps(value) in values)


def _leaves(value: Any) -> Iterator[Any]:
    if isinstance(value, dict | list):
        for each in value.values() if isinstance(value, dict) else value:
            yield from _leaves(each)
    else:
        yield value


def words(name: str) -> str:
    """`entryGradeLevelDescriptor` → `Entry grade level`."""
    return _SUFFIX.sub("", _HUMP.sub(" ", name).lower()).capitalize()


def text_of(name: str, value: Any) -> str:
    """The value of a member of this name: of a descriptor its code value, of a list its first items."""
    if isinstance(value, list):
        shown = [text for item in value[:_MOST_ITEMS] if (text := text_of(name, item))]
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
        if not isinstance(value, list) and (text := text_of(name, value)):
            yield text


def timestamp(at: datetime | None) -> SafeString | str:
    """An element `time`; a dash for None."""
    if at is None:
        return "-"
    exact = timezone.localtime(at).isoformat(timespec="seconds")
    return format_html('<time datetime="{0}" title="{0}">{1}</time>', exact, written_timestamp(at))


def written_timestamp(at: datetime) -> str:
    """The text alone, in the time zone of the pages."""
    return f"{timezone.localtime(at):%Y-%m-%d %H:%M %Z}"


def is_time(model: type[Model], name: Any) -> bool:
    """Return whether the model has a field of this name with times. Other columns are methods and functions."""
    try:
        return isinstance(name, str) and isinstance(model._meta.get_field(name), DateTimeField)
    except FieldDoesNotExist:
        return False


@cache
def shown_time(model: type[Model], name: str) -> Callable[[Any], SafeString | str]:
    """A column or a read-only field in place of the field of this name, of which Django's pages show the text only."""

    @admin.display(description=str(model._meta.get_field(name).verbose_name), ordering=name)  # type: ignore[union-attr]
    def shown(row: Any) -> SafeString | str:
        return timestamp(getattr(row, name))

    shown.__name__ = name
    return shown
