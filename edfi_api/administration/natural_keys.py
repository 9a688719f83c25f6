"""Natural keys as people type and read them: elements out of text, and a text that fits a line of a list."""

import re
from typing import NamedTuple

_PREFIX = "NK#"
# Only what looks like a further element: a descriptor has a `#` too, between its namespace and its code value.
_NEXT_ELEMENT = re.compile(r"#(?=[\w.]+=)")
_ELEMENT = re.compile(r"(?:(?P<name>[\w.]+)=)?(?P<value>.*)", re.DOTALL)
# Lengths of the values, where these could be taken for elements.
_LENGTHS = re.compile(r"#![\d,]+$")


class Element(NamedTuple):
    """`name` is a path such as `studentReference.studentUniqueId`; None where only a value stands."""

    name: str | None
    value: str


def elements(text: str) -> list[Element]:
    """Those of a natural key, or of a part of one."""
    found = _NEXT_ELEMENT.split(_LENGTHS.sub("", without_prefix(text)))
    return [Element(*match.group("name", "value")) for part in found if (match := _ELEMENT.fullmatch(part))]


def without_prefix(text: str) -> str:
    """A descriptor's URI, out of its natural key."""
    return text.strip().removeprefix(_PREFIX)


def abridged(natural_key: str) -> str:
    """`schoolId=1, studentUniqueId=604822`: without paths and namespaces, and what stands twice once."""
    parts = (_abridged(element) for element in elements(natural_key))
    return ", ".join(dict.fromkeys(parts))


def _abridged(element: Element) -> str:
    if element.name is None:
        return element.value
    name = element.name.rpartition(".")[2]
    value = element.value.rpartition("#")[2] if name.endswith("Descriptor") else element.value
    return f"{name}={value}"
