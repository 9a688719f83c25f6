"""A body that is made value by value, in any order."""

from collections.abc import Iterable
from itertools import pairwise, zip_longest
from typing import Any

from edfi_api.model.surface.resource import ALL_ITEMS

Steps = tuple[str, ...]


class _Items(dict[tuple[Steps, int], Any]):
    """The items of an array, by the paths of the arrays that they come from and their indexes in these."""


class MappedBody:
    def __init__(self) -> None:
        self._root: dict[Any, Any] = {}

    def put(self, path: Steps, origins: Iterable[Steps], indexes: tuple[int, ...], value: Any) -> bool:
        """Put a value at a path; whether there was none yet.

        `origins` are the paths of what its arrays come from, `indexes` those in these; 0 where it is no array.
        """
        node, items = self._root, zip_longest(origins, indexes, fillvalue=0)
        for step, following in pairwise(path):
            key = next(items) if step == ALL_ITEMS else step
            node = node.setdefault(key, _Items() if following == ALL_ITEMS else {})
            if not isinstance(node, dict):
                return False
        if path[-1] in node:
            return False
        node[path[-1]] = value
        return True

    def finished(self) -> dict[str, Any]:
        found: dict[str, Any] = _finished(self._root)
        return found

    @staticmethod
    def give(body: Any, path: Steps, value: Any) -> int:
        """Put a value where it is missing: in the body, or in each item of its arrays. The number of places."""
        step, rest = path[0], path[1:]
        if step == ALL_ITEMS:
            return sum(MappedBody.give(item, rest, value) for item in body) if isinstance(body, list) else 0
        if not isinstance(body, dict):
            return 0
        if not rest:
            is_missing = body.get(step) is None
            if is_missing:
                body[step] = value
            return int(is_missing)
        if rest[0] == ALL_ITEMS:
            return MappedBody.give(body.get(step), rest, value)
        return MappedBody.give(body.setdefault(step, {}), rest, value)


def _finished(node: Any) -> Any:
    if isinstance(node, _Items):
        return [_finished(item) for item in node.values()]
    if isinstance(node, dict):
        return {name: _finished(member) for name, member in node.items()}
    return node
