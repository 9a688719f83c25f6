"""Resolved merge directives: the pairs of properties that denote the same value."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass

from edfi_api.model.metaed.model import Entity, Merge, Property
from edfi_api.model.surface.declarations import Declarations, PropertyId, property_id

Chain = tuple[Property, ...]


@dataclass(frozen=True, slots=True)
class Directive:
    """`merge Session.School with School`: a key that passes through `Session` has no `School` of its own."""

    source: Chain
    target: Chain


def follow_merges(declarations: Declarations) -> Mapping[PropertyId, list[Directive]]:
    """All directives by the property at the end of their source path."""
    by_source = defaultdict(list)
    for entity in declarations.model.entities.values():
        for prop in entity.properties:
            for merge in prop.merges:
                source = _chain(declarations, entity, merge.source, merge)
                directive = Directive(source, _chain(declarations, entity, merge.target, merge))
                by_source[property_id(source[-1])].append(directive)
    return by_source


def _chain(declarations: Declarations, entity: Entity, steps: tuple[str, ...], merge: Merge) -> Chain:
    """The properties along a path of full names; the rules have checked that they exist."""
    chain: Chain = ()
    for step in steps:
        current = declarations.model.target(chain[-1]) if chain else entity
        prop = declarations.property_at(current, step)
        if prop is None:
            raise LookupError(f"{merge.place}: {current.name} has no property {step}")
        chain = (*chain, prop)
    return chain
