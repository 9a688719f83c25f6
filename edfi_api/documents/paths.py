"""Walking a body along the steps of a `JsonPath`, through arrays, with the indexes passed on the way."""

from collections.abc import Iterator
from typing import Any

from edfi_api.surface.resource import ALL_ITEMS

Path = tuple[str, ...]
Indexes = tuple[int, ...]


def values_at(body: Any, steps: Path, indexes: Indexes = ()) -> Iterator[tuple[Indexes, Any]]:
    """Every value that stands at the path, in body order, with the index of each array on the way.

    Missing members end the walk silently; so does anything that is not the object or array the path expects.
    """
    for number, step in enumerate(steps):
        if step == ALL_ITEMS:
            if isinstance(body, list):
                for index, item in enumerate(body):
                    yield from values_at(item, steps[number + 1 :], (*indexes, index))
            return
        if not isinstance(body, dict) or step not in body:
            return
        body = body[step]
    yield indexes, body


def concrete(steps: Path, indexes: Indexes) -> str:
    """`$.classPeriods[1].classPeriodReference`: the path with the indexes put in."""
    remaining = iter(indexes)
    return "$" + "".join(f"[{next(remaining)}]" if step == ALL_ITEMS else f".{step}" for step in steps)
