"""Parsing natural keys from search text, and abbreviating them for lists."""

import re
from typing import NamedTuple

from edfi_api.model.surface.naming import is_descriptor_name

_PREFIX = "NK#"
# Splits only before `name=`: a descriptor URI also has a `#`, between its namespace and its code value.
_NEXT_ELEMENT = re.compile(r"#(?=[\w.]+=)")
_ELEMENT = re.compile(r"(?:(?P<name>[\w.]+)=)?(?P<value>.*)", re.DOTALL)
# The suffix with the lengths of values, which natural keys have where values could be mistaken for elements.
_LENGTHS = re.compile(r"#![\d,]+$")


class KeyElement(NamedTuple):
    """`name` is a path such as `studentReference.studentUniqueId`; None for a value alone."""

    name: str | None
    value: str


def elements(text: str) -> list[KeyElement]:
    """The elements of a natural key, or of a part of one."""
    found = _NEXT_ELEMENT.split(_LENGTHS.sub("", without_prefix(text)))
    return [KeyElement(*match.group("name", "value")) for part in found if (match := _ELEMENT.fullmatch(part))]


def without_prefix(text: str) -> str:
    """The text without the prefix of natural keys; for a descriptor, its URI."""
    return text.strip().removeprefix(_PREFIX)


def abridged(natural_key: str) -> str:
    """`schoolId=1, studentUniqueId=604822`: without paths, namespaces and duplicates."""
    parts = (_abridged(element) for element in elements(natural_key))
    return ", ".join(dict.fromkeys(parts))


def _abridged(element: KeyElement) -> str:
    if element.name is None:
        return element.value
    name = element.name.rpartition(".")[2]
    value = element.value.rpartition("#")[2] if is_descriptor_name(name) else element.value
    return f"{name}={value}"
