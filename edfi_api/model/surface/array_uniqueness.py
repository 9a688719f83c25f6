"""The keys of array items: the values in which the items of an array must differ."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator

from edfi_api.model.surface.path_table import Terminal
from edfi_api.model.surface.resource import ALL_ITEMS, ArrayUniqueness, JsonPath


def array_uniqueness(terminals: Iterable[Terminal]) -> tuple[ArrayUniqueness, ...]:
    """One constraint for each array whose items have a key, sorted by array.

    The key of references in an array is their target's whole identity: the same target must not occur twice.
    """
    keys: dict[JsonPath, set[JsonPath]] = defaultdict(set)
    for terminal in terminals:
        for path in _key_paths(terminal):
            array, item_path = _split(path)
            keys[array].add(item_path)
    return tuple(ArrayUniqueness(array, tuple(sorted(keys[array], key=str))) for array in sorted(keys, key=str))


def _key_paths(terminal: Terminal) -> Iterator[JsonPath]:
    is_reference_in_array = terminal.prop.is_collection and terminal.prop.type.is_reference
    if terminal.is_item_key or is_reference_in_array:
        yield from terminal.present_paths


def _split(path: JsonPath) -> tuple[JsonPath, JsonPath]:
    """`$.a[*].b[*].c` is `$.c` in the items of `$.a[*].b`."""
    last = len(path.steps) - 1 - path.steps[::-1].index(ALL_ITEMS)
    return JsonPath(path.steps[:last]), JsonPath(path.steps[last + 1 :])
