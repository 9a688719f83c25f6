"""Bodies in a form in which they can be compared."""

from collections.abc import Iterator
from decimal import Decimal
from typing import Any


def canonical(value: Any) -> Any:
    """Return the value with the items of arrays in an order of their own, and without members that have no value."""
    match value:
        case dict():
            members = {name: canonical(member) for name, member in sorted(value.items())}
            return {name: member for name, member in members.items() if member not in ({}, [])}
        case list():
            return sorted(map(canonical, value), key=repr)
        case bool() | str() | None:
            return value
    return Decimal(str(value)).normalize()


def differences(place: str, one: Any, other: Any) -> Iterator[str]:
    """Yield where two bodies in that form differ, and how."""
    if isinstance(one, dict) and isinstance(other, dict):
        for name in sorted(one.keys() | other.keys()):
            yield from differences(f"{place}.{name}", one.get(name), other.get(name))
    elif isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        for number, pair in enumerate(zip(one, other, strict=True)):
            yield from differences(f"{place}[{number}]", *pair)
    elif one != other:
        yield f"{place}: {one!r} is read as {other!r}"
