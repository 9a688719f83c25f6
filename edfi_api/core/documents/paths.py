"""Reads and sets values of a body by the steps of a `JsonPath`; a match keeps its array indexes. Values as text."""

import re
from collections.abc import Sequence
from decimal import Decimal
from typing import Any

from edfi_api.model.surface.naming import is_descriptor_name
from edfi_api.model.surface.resource import ALL_ITEMS
from references.descriptor_uri import comparable

Path = tuple[str, ...]
Indexes = tuple[int, ...]

_INDEX = re.compile(r"\[(?:\d+|\*)\]")


def values_at(body: Any, steps: Path, indexes: Indexes = ()) -> Sequence[tuple[Indexes, Any]]:
    """Every value at the path, in body order, with the array indexes that lead to it.

    Empty if a member is missing or a value is not the object or array that the path expects. Mostly called for a single
    value, for which a generator takes twice the time.
    """
    for number, step in enumerate(steps):
        if step == ALL_ITEMS:
            items = enumerate(body) if isinstance(body, list) else ()
            rest = steps[number + 1 :]
            return [found for index, item in items for found in values_at(item, rest, (*indexes, index))]
        if not isinstance(body, dict) or step not in body:
            return ()
        body = body[step]
    return ((indexes, body),)


def value_at(body: Any, steps: Path) -> Any:
    """The value at a path outside of arrays; None without one."""
    for step in steps:
        if not isinstance(body, dict):
            return None
        body = body.get(step)
    return body


def identifying_value(item: Any, steps: Path) -> Any:
    """The value at the path of an item, of a descriptor in the form in which it is compared; None without one."""
    value = value_at(item, steps)
    return comparable(value) if isinstance(value, str) and is_descriptor_name(steps[-1]) else value


def put_value(body: dict[str, Any], steps: Path, value: Any) -> None:
    """Set the value at a path outside of arrays, with the objects around it."""
    *outer, last = steps
    for step in outer:
        body = body.setdefault(step, {})
    body[last] = value


def concrete(steps: Path, indexes: Indexes) -> str:
    """`$.classPeriods[1].classPeriodReference`: the path with concrete array indexes."""
    remaining = iter(indexes)
    return "$" + "".join(f"[{next(remaining)}]" if step == ALL_ITEMS else f".{step}" for step in steps)


def steps_of(path: str) -> Path:
    """The steps of a path into a body, whatever a client has named its members: of `$.addresses[1].city`
    `("addresses", "[*]", "city")`."""
    return tuple(_INDEX.sub("." + ALL_ITEMS, path).split(".")[1:])


def in_every_item(path: str) -> str:
    """The path of a member in every item of its arrays: of `$.addresses[1].city` `$.addresses[*].city`."""
    return _INDEX.sub(ALL_ITEMS, path)


def as_text(value: Any) -> str:
    """`122`, `true`, `2026-01-05`, `1.5`: without trailing zeros or exponent, so equal numbers give equal texts."""
    if isinstance(value, str):
        return value
    if value is True or value is False:
        return "true" if value else "false"
    if isinstance(value, float | Decimal):
        text = f"{Decimal(str(value)):f}"  # `normalize` would round to the 28 digits of the context.
        return text.rstrip("0").rstrip(".") if "." in text else text
    return str(value)
