"""Walking a body along the steps of a `JsonPath`, through arrays, with the indexes passed on the way."""

from collections.abc import Sequence
from typing import Any

from edfi_api.surface.resource import ALL_ITEMS

Path = tuple[str, ...]
Indexes = tuple[int, ...]


def values_at(body: Any, steps: Path, indexes: Indexes = ()) -> Sequence[tuple[Indexes, Any]]:
    """Every value that stands at the path, in body order, with the index of each array on the way.

    Missing members end the walk silently; so does anything that is not the object or array the path expects. Walked a
    dozen times for each document, and most paths lead to one value: a generator takes twice the time.
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


def concrete(steps: Path, indexes: Indexes) -> str:
    """`$.classPeriods[1].classPeriodReference`: the path with the indexes put in."""
    remaining = iter(indexes)
    return "$" + "".join(f"[{next(remaining)}]" if step == ALL_ITEMS else f".{step}" for step in steps)
