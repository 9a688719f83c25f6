"""Bodies in a form in which they can be compared."""

from decimal import Decimal
from typing import Any


def canonical(value: Any) -> Any:
    """With the items of arrays in an order of their own, and without members that have no value."""
    match value:
        case dict():
            members = {name: canonical(member) for name, member in sorted(value.items())}
            return {name: member for name, member in members.items() if member not in ({}, [])}
        case list():
            return sorted(map(canonical, value), key=repr)
        case bool() | str() | None:
            return value
    return Decimal(str(value)).normalize()
