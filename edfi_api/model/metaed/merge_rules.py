"""The rules of `merge … with …`: both paths exist, follow identities and end at the same entity; and models that lack
one. Two paths from an entity to values of one kind, with no merge or role name to relate them, are ambiguous: an
identity with `Section` and `Session` contains a session twice. Ed-Fi's own tools refuse such a model.

`follow` is also used by packages that derive something from a model's merges.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from itertools import pairwise, takewhile

from edfi_api.model.metaed.errors import Problem, error, indefinite, suggestion, warning
from edfi_api.model.metaed.model import (
    SUBCLASS_KINDS,
    Entity,
    EntityKey,
    EntityKind,
    Merge,
    Model,
    Property,
    PropertyType,
    SourceLocation,
)

# Paths can end at any type with a target; for these types there are further conditions.
PLAIN_TYPES = frozenset(
    {
        PropertyType.BOOLEAN,
        PropertyType.CURRENCY,
        PropertyType.DATE,
        PropertyType.DATETIME,
        PropertyType.DECIMAL,
        PropertyType.DURATION,
        PropertyType.INTEGER,
        PropertyType.PERCENT,
        PropertyType.SHORT,
        PropertyType.STRING,
        PropertyType.TIME,
        PropertyType.YEAR,
    }
)
SPLICED_TYPES = frozenset({PropertyType.INLINE_COMMON, PropertyType.CHOICE})


def follow(model: Model, entity: Entity, steps: tuple[str, ...]) -> tuple[Property, ...]:
    """The properties that the steps name, from one of the entity on; shorter than the steps where one is unknown."""
    return tuple(_followed(model, entity, steps))


def _followed(model: Model, entity: Entity, steps: tuple[str, ...]) -> Iterator[Property]:
    holder: Entity | None = entity
    for step in steps:
        known = reachable_properties(model, holder, entity.namespace) if holder is not None else ()
        prop = next((prop for prop in known if prop.full_name == step), None)
        if prop is None:
            return
        yield prop
        holder = model.target(prop) if prop.target is not None else None


def reachable_properties(model: Model, entity: Entity, namespace: str) -> Iterator[Property]:
    """The properties that a step can name: the entity's, the namespace's additions to it, and those of its bases."""
    for ancestor in model.lineage(entity):
        yield from ancestor.properties
        additions = model.additions(ancestor, namespace)
        yield from additions.properties if additions is not None else ()


@dataclass(frozen=True, slots=True)
class ResolvedMerge:
    """A directive with both paths resolved to chains of properties."""

    carrier: Property
    place: SourceLocation
    source: tuple[Property, ...]
    target: tuple[Property, ...]


def check_merges(model: Model) -> Iterator[Problem]:
    for entity in model.entities.values():
        for carrier in entity.properties:
            for merge in carrier.merges:
                yield from _check(model, entity, carrier, merge)


def _check(model: Model, entity: Entity, carrier: Property, merge: Merge) -> Iterator[Problem]:
    """The rules about whole chains apply only if both paths exist."""
    source, target = follow(model, entity, merge.source), follow(model, entity, merge.target)
    yield from source_begins_with_the_carrier(carrier, merge)
    yield from path_exists(model, entity, merge, merge.source, source)
    yield from path_exists(model, entity, merge, merge.target, target)
    if len(source) == len(merge.source) and len(target) == len(merge.target):
        resolved = ResolvedMerge(carrier, merge.place, source, target)
        yield from steps_are_identity(model, resolved)
        yield from collections_meet_identity(resolved)
        yield from ends_agree(model, resolved)
        yield from plain_target_belongs_to_the_entity(resolved)


def source_begins_with_the_carrier(carrier: Property, merge: Merge) -> Iterator[Problem]:
    if merge.source[0] != carrier.full_name:
        yield error(merge.place, f"the first path must begin with '{carrier.full_name}', which carries the merge")


def path_exists(
    model: Model, entity: Entity, merge: Merge, path: tuple[str, ...], chain: tuple[Property, ...]
) -> Iterator[Problem]:
    if len(chain) == len(path):
        return
    dotted, step = ".".join(path), path[len(chain)]
    if not chain:
        yield error(merge.place, f"{dotted}: {_unknown_step(model, entity, step, entity.namespace)}")
    elif chain[-1].target is not None:
        holder = model.target(chain[-1])
        yield error(merge.place, f"{dotted}: {_unknown_step(model, holder, step, entity.namespace)}")
    elif chain[-1].type in PLAIN_TYPES:
        yield error(
            merge.place, f"{dotted}: '{chain[-1].full_name}' is {indefinite(chain[-1].type)}, nothing can follow it"
        )


def _unknown_step(model: Model, holder: Entity, step: str, namespace: str) -> str:
    known = [prop.full_name for prop in reachable_properties(model, holder, namespace)]
    return f"{holder.kind} '{holder.name}' has no property '{step}'{suggestion(step, known)}"


def steps_are_identity(model: Model, merge: ResolvedMerge) -> Iterator[Problem]:
    """All steps but the first; choices, inline commons and their members are exempt, as they only group properties."""
    for prop in (*merge.source[1:], *merge.target[1:]):
        holder = model.entities[prop.declared_by]
        is_spliced_in = prop.type in SPLICED_TYPES or holder.is_inline or holder.kind is EntityKind.CHOICE
        if not prop.is_identity and not is_spliced_in:
            message = f"'{prop.full_name}' is not part of the identity of {holder.kind} '{holder.name}'"
            yield error(merge.place, message)


def collections_meet_identity(merge: ResolvedMerge) -> Iterator[Problem]:
    """A collection can only be merged with an identity property, whose one value all items then share."""
    for collection, other in ((merge.carrier, merge.target[0]), (merge.target[0], merge.source[0])):
        if collection.is_collection and not other.is_identity:
            message = f"'{collection.full_name}' is a collection, so '{other.full_name}' must be part of the identity"
            yield error(merge.place, message)


def ends_agree(model: Model, merge: ResolvedMerge) -> Iterator[Problem]:
    source, target = merge.source[-1], merge.target[-1]
    if source.type is not target.type:
        yield error(merge.place, f"{indefinite(source.type)} cannot be merged with {indefinite(target.type)}")
    elif source.target is not None and target.target is not None and not _related(model, source, target):
        yield error(merge.place, f"'{source.target.name}' cannot be merged with '{target.target.name}'")


def _related(model: Model, one: Property, other: Property) -> bool:
    """Return whether both have the same target, or one target is a super- or subclass of the other."""
    entities = model.target(one), model.target(other)
    lineages = [{ancestor.key for ancestor in model.lineage(entity)} for entity in entities]
    return entities[0].key in lineages[1] or entities[1].key in lineages[0]


def plain_target_belongs_to_the_entity(merge: ResolvedMerge) -> Iterator[Problem]:
    end = merge.target[-1]
    if end.type in PLAIN_TYPES and (len(merge.target) > 1 or merge.carrier.is_collection):
        kind = indefinite(end.type)
        message = (
            f"'{end.full_name}' is {kind}: such a target must be of the entity itself, and the source no collection"
        )
        yield error(merge.place, message)


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
    """Return whether it is a leaf of references, such as shared types, descriptors and enumerations."""
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
