"""Merge paths → the properties that they name; also used by packages that derive something from a model's merges."""

from __future__ import annotations

from collections.abc import Iterator

from edfi_api.model.metaed.model import Entity, Model, Property


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
