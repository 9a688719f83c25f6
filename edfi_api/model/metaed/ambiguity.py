"""Ambiguous models: two paths from an entity to values of one kind, with no merge or role name to relate them.

Ed-Fi's own tools refuse such a model. Mostly a merge is missing: an identity with `Section` and `Session` contains a
session twice.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from graphlib import CycleError, TopologicalSorter
from itertools import pairwise, takewhile

from edfi_api.model.metaed.errors import Problem, warning
from edfi_api.model.metaed.model import SUBCLASS_KINDS, Entity, EntityKey, Model, Property

Path = tuple[Property, ...]
# The entity at the end of a path, and the full name of its last property.
End = tuple[EntityKey, str]


def paths_to_one_value_are_merged_or_have_roles(model: Model) -> Iterator[Problem]:
    """All but one of them, if any begins with an identity property. A path that passes a merge does not count."""
    ends = {entity.key for entity in model.entities.values() if _refers_to_nothing(entity)}
    ways = _ways_of_identities(model, ends)
    for entity in model.entities.values():
        paths = defaultdict(list)
        for end, path in _ways(entity.properties, ends, ways):
            paths[end].append(path)
        merges = (_missing_merge(*pair) for same_end in paths.values() for pair in _ambiguous_pairs(same_end))
        yield from (_ambiguity(*merge) for merge in dict.fromkeys(merges))


def _refers_to_nothing(entity: Entity) -> bool:
    """Whether it is a leaf of references, such as shared types, descriptors and enumerations."""
    return entity.base is None and all(prop.target is None for prop in entity.properties)


def _ways_of_identities(model: Model, ends: set[EntityKey]) -> Mapping[EntityKey, Mapping[End, Path]]:
    """Return for each entity one path to each end of its identity, without what leads through cycles, an
    error anyway.
    """
    identities = {entity.key: tuple(_identity(model, entity)) for entity in model.entities.values()}
    targets = {key: {prop.target for prop in identity if prop.target} for key, identity in identities.items()}
    circular = {key for circle in circles(targets) for key in circle}
    ways: dict[EntityKey, Mapping[End, Path]] = {}
    for key in TopologicalSorter(_without(targets, circular)).static_order():
        ways[key] = dict(_ways(identities[key], ends, ways))
    return ways


def circles(parts: Mapping[EntityKey, Iterable[EntityKey]]) -> Iterator[list[EntityKey]]:
    """Cycles of what has parts, as many as have no key in common; each ends with the key with which it begins."""
    left = parts
    while True:
        try:
            TopologicalSorter(left).prepare()
        except CycleError as circle:
            yield circle.args[1]
            left = _without(left, set(circle.args[1]))
        else:
            return


def _without(
    parts: Mapping[EntityKey, Iterable[EntityKey]], keys: set[EntityKey]
) -> Mapping[EntityKey, set[EntityKey]]:
    return {key: set(own) - keys for key, own in parts.items() if key not in keys}


def _identity(model: Model, entity: Entity) -> Iterator[Property]:
    """The identity properties; of a subclass its renaming property, and the other ones of its base."""
    holders = model.lineage(entity) if entity.kind in SUBCLASS_KINDS else (entity,)
    renamed = {prop.renames for prop in entity.properties}
    for holder in holders:
        yield from (prop for prop in holder.properties if prop.is_identity and prop.full_name not in renamed)


def _ways(
    properties: Iterable[Property], ends: set[EntityKey], further: Mapping[EntityKey, Mapping[End, Path]]
) -> Iterator[tuple[End, Path]]:
    """The ends that the properties lead to, each with a path."""
    for prop in properties:
        if prop.target is None or prop.merges:
            continue
        if prop.target in ends:
            yield (prop.target, prop.full_name), (prop,)
        else:
            yield from ((end, (prop, *path)) for end, path in further.get(prop.target, {}).items())


def _ambiguous_pairs(paths: list[Path]) -> Iterator[tuple[Path, Path]]:
    """Each path with the next one: that many merges unify all of them."""
    without_role = [path for path in paths if not path[0].role_name]
    if any(path[0].is_identity for path in paths):
        yield from pairwise(without_role)


def _missing_merge(one: Path, other: Path) -> tuple[Path, Path]:
    """Source and target of the merge that covers the longest common end of both paths.

    The longer path is the source: a path of one step can be a school year, which cannot have a merge.
    """
    ends = zip(reversed(one), reversed(other), strict=False)
    in_common = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], ends))
    first, second = (path[: len(path) - in_common] for path in (one, other))
    return (first, second) if len(first) > len(second) else (second, first)


def _ambiguity(source: Path, target: Path) -> Problem:
    source_text, target_text = (".".join(prop.full_name for prop in path) for path in (source, target))
    return warning(
        source[0].place,
        f"ambiguous: {source_text} and {target_text} may be the same or not; write 'merge {source_text} with "
        f"{target_text}', or give '{source[0].name}' or '{target[0].name}' a role name",
    )
