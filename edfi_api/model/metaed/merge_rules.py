"""The rules of `merge … with …`: both paths exist, follow identities and end at the same entity.

`follow` is also used by packages that derive something from a model's merges.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from edfi_api.model.metaed.errors import Problem, error, indefinite, suggestion
from edfi_api.model.metaed.model import Entity, EntityKind, Merge, Model, Property, PropertyType, SourceLocation

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
    """Whether both have the same target, or one target is a super- or subclass of the other."""
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
