"""The differences between two versions of a body, for people to read."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

# More differences than this are another document rather than a correction.
MOST = 200
ABSENT: Any = object()


@dataclass(frozen=True, slots=True)
class Difference:
    """`path` as in errors, `$.addresses[0].city`; `old` or `new` is ABSENT where there was nothing."""

    path: str
    old: Any
    new: Any


def differences(old: Any, new: Any) -> list[Difference]:
    """Return at most `MOST` differences, in the order of the members."""
    return [found for found, _ in zip(_differences("$", old, new), range(MOST), strict=False)]


def _differences(path: str, old: Any, new: Any) -> Iterator[Difference]:
    if isinstance(old, dict) and isinstance(new, dict):
        for name in [*old, *(name for name in new if name not in old)]:
            yield from _differences(f"{path}.{name}", old.get(name, ABSENT), new.get(name, ABSENT))
    elif isinstance(old, list) and isinstance(new, list):
        yield from _of_items(path, old, new)
    elif type(old) is not type(new) or old != new:
        yield Difference(path, old, new)


def _of_items(path: str, old: list[Any], new: list[Any]) -> Iterator[Difference]:
    """Items that are the same in both are left out, wherever they are; one that was replaced is compared."""
    removed = [(index, item) for index, item in enumerate(old) if item not in new]
    added = [(index, item) for index, item in enumerate(new) if item not in old]
    if len(removed) == 1 and len(added) == 1:
        yield from _differences(f"{path}[{added[0][0]}]", removed[0][1], added[0][1])
        return
    for index, item in removed:
        yield Difference(f"{path}[{index}]", item, ABSENT)
    for index, item in added:
        yield Difference(f"{path}[{index}]", ABSENT, item)
