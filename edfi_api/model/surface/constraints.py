"""Values of one document that must be equal, and those in which the items of an array must differ.

Equality follows from a merge in the model, or from a column that values share in Ed-Fi's databases (`columns`).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from edfi_api.model.metaed.model import Entity, Property, PropertyType
from edfi_api.model.surface.columns import Column, Conflict, Table
from edfi_api.model.surface.declarations import property_id
from edfi_api.model.surface.identity import Identities
from edfi_api.model.surface.path_table import PropertyPath, Terminal, Value
from edfi_api.model.surface.resource import ALL_ITEMS, ArrayUniqueness, EqualityConstraint, JsonPath

# Finds the values that a property path names in the body.
Lookup = Callable[[PropertyPath], Sequence[Value]]

_MERGING_TYPES = frozenset(
    {
        PropertyType.ASSOCIATION,
        PropertyType.DOMAIN_ENTITY,
        PropertyType.COMMON,
        PropertyType.INLINE_COMMON,
        PropertyType.CHOICE,
    }
)


def equality_constraints(
    entity: Entity, tables: Iterable[Table], lookup: Lookup, commons: Commons
) -> tuple[EqualityConstraint, ...]:
    """The pairs from merges, then those from columns; each unordered pair of paths once."""
    pairs: dict[frozenset[JsonPath], EqualityConstraint] = {}
    for source, target in (*_merged_pairs(entity, lookup), *_column_pairs(tables, lookup, commons)):
        if source != target:
            pairs.setdefault(frozenset((source, target)), EqualityConstraint(source, target))
    return tuple(pairs.values())


def _merged_pairs(entity: Entity, lookup: Lookup) -> Iterator[tuple[JsonPath, JsonPath]]:
    for prop in entity.properties:
        if prop.type in _MERGING_TYPES:
            for merge in prop.merges:
                yield from _paired(lookup(merge.source), lookup(merge.target))


def _column_pairs(tables: Iterable[Table], lookup: Lookup, commons: Commons) -> Iterator[tuple[JsonPath, JsonPath]]:
    for table in tables:
        for conflict in table.conflicts:
            for present, new in _paired(lookup(conflict.present.path), lookup(conflict.new.path)):
                if _is_in_array(present) == _is_in_array(new) or commons.allow(table, conflict, _is_in_array(new)):
                    yield present, new


@dataclass(frozen=True, slots=True)
class Commons:
    """The common collections of a document by name, for the rule about their keys."""

    key_sizes: dict[str, int]

    @classmethod
    def of(
        cls, properties: Iterable[Property], identities: Identities, target: Callable[[Property], Entity]
    ) -> Commons:
        return cls(
            {
                prop.full_name: len(identities.identity_properties(target(prop)))
                for prop in properties
                if prop.type is PropertyType.COMMON and prop.is_collection
            }
        )

    def allow(self, table: Table, conflict: Conflict, new_is_in_array: bool) -> bool:
        """Return whether a value of each item must equal one outside: not if it is only part of the item's key."""
        column = conflict.new if new_is_in_array else conflict.present
        key_size = self.key_sizes.get(column.path[0], 0)
        if len(column.path) == 1 or column.is_coded or key_size == 0:
            return True
        return column.is_identity_value and (key_size == 1 or _key_conflicts(table, column.path[0]) >= key_size)


def _key_conflicts(table: Table, common: str) -> int:
    return sum(_touches(conflict.present, common) or _touches(conflict.new, common) for conflict in table.conflicts)


def _touches(column: Column, common: str) -> bool:
    return column.is_identity_value and column.path[0] == common


def _is_in_array(path: JsonPath) -> bool:
    return ALL_ITEMS in path.steps


def _paired(sources: Sequence[Value], targets: Sequence[Value]) -> list[tuple[JsonPath, JsonPath]]:
    """The paths of the same value on both sides; empty if the sides do not correspond.

    Values of the same property are paired; if that is ambiguous, in the order of their names.
    """
    left, right = _by_place(sources), _by_place(targets)
    if len(left) != len(right):
        return []
    partners = [_partners(group, right) for group in left]
    if any(len(found) != 1 for found in partners) or len({found[0] for found in partners}) != len(left):
        partners = [[index] for index in range(len(left))]
    return [(_place(group), _place(right[found[0]])) for group, found in zip(left, partners, strict=True)]


def _by_place(values: Sequence[Value]) -> list[list[Value]]:
    """Values grouped by path: those of one name in one object are one member."""
    groups: dict[JsonPath, list[Value]] = defaultdict(list)
    for value in values:
        groups[value.named_path].append(value)
    return [groups[path] for path in sorted(groups, key=str)]


def _partners(group: list[Value], others: list[list[Value]]) -> list[int]:
    wanted = {property_id(value.prop) for value in group}
    return [index for index, other in enumerate(others) if wanted & {property_id(value.prop) for value in other}]


def _place(group: list[Value]) -> JsonPath:
    """The path of the values: that of their name, or of the value that covers all of them."""
    return next((value.path for value in group if value.is_present), group[0].path)


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
