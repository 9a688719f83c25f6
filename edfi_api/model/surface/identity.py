"""The identity of an entity, flattened into scalar values.

A reference in an identity stands for the identity of its target, so the values form a tree; this module computes its
leaves. Some leaves are merged away by directives: the model defines them as equal to another one, and references to the
entity have only that other.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from edfi_api.model.metaed.model import Entity, EntityKey, Merge, Property, PropertyType
from edfi_api.model.surface.declarations import Declarations, PropertyId, property_id

_ChainIds = tuple[PropertyId, ...]


@dataclass(frozen=True, slots=True, eq=False)
class IdentityLeaf:
    """One scalar value of an entity's identity and the path to it; `covered_by` replaces a merged-away one."""

    chain: Chain
    covered_by: IdentityLeaf | None = None

    @property
    def is_merged_away(self) -> bool:
        return self.covered_by is not None

    @property
    def prop(self) -> Property:
        return self.chain[-1]

    @property
    def path(self) -> tuple[str, ...]:
        return tuple(prop.full_name for prop in self.chain)

    @property
    def naming_chain(self) -> Chain:
        """The chain without inline commons, which do not appear in the names of reference objects."""
        return tuple(prop for prop in self.chain if prop.type is not PropertyType.INLINE_COMMON)


class Identities:
    """The flattened identity of every entity, computed once."""

    def __init__(self, declarations: Declarations) -> None:
        self._declarations = declarations
        self._directives = follow_merges(declarations)
        self._leaves: dict[EntityKey, tuple[IdentityLeaf, ...]] = {}

    def leaves(self, entity: Entity) -> tuple[IdentityLeaf, ...]:
        """All leaves, merged away or not; siblings in the order of their full names."""
        if entity.key not in self._leaves:
            self._leaves[entity.key] = self._with_merges({_ids(chain): chain for chain in self._chains(entity)})
        return self._leaves[entity.key]

    def _chains(self, entity: Entity) -> Iterator[Chain]:
        for prop in sorted(self.identity_properties(entity), key=lambda p: p.full_name):
            if prop.type.is_reference or prop.type is PropertyType.INLINE_COMMON:
                yield from ((prop, *rest) for rest in self._chains(self._declarations.model.target(prop)))
            else:
                yield (prop,)

    def identity_properties(self, entity: Entity) -> list[Property]:
        """The identity properties, including inherited ones, and the inline commons that contain some."""
        return [prop for prop in self._declarations.effective_properties(entity) if self._is_identity(prop)]

    def _is_identity(self, prop: Property) -> bool:
        if prop.type is PropertyType.INLINE_COMMON:
            return bool(self.identity_properties(self._declarations.model.target(prop)))
        return prop.is_identity

    def _with_merges(self, chains: dict[_ChainIds, Chain]) -> tuple[IdentityLeaf, ...]:
        covers = self._covers(chains)
        plain = {ids: IdentityLeaf(chain) for ids, chain in chains.items() if ids not in covers}
        return tuple(
            IdentityLeaf(chain, covered_by=plain[_end(ids, covers)]) if ids in covers else plain[ids]
            for ids, chain in chains.items()
        )

    def _covers(self, chains: dict[_ChainIds, Chain]) -> dict[_ChainIds, _ChainIds]:
        """The leaf that each merged-away one equals.

        A value is merged away only if the identity has another place for it, so never in a cycle: otherwise no
        reference to the entity could be written.
        """
        covers: dict[_ChainIds, _ChainIds] = {}
        for ids, chain in chains.items():
            target = self._merged_with(ids, chain, chains)
            if target is not None and _end(target, covers) != ids:
                covers[ids] = target
        return covers

    def _merged_with(self, ids: _ChainIds, chain: Chain, chains: Iterable[_ChainIds]) -> _ChainIds | None:
        """The leaf that a directive on the chain makes equal to this one. School years are never merged away."""
        if chain[-1].type is PropertyType.SCHOOL_YEAR_ENUMERATION:
            return None
        leaves = (
            _leaf_below(ids[:start] + _ids(directive.target), ids[end:], chains)
            for start, end, directive in self._directives_on(ids)
        )
        return next((leaf for leaf in leaves if leaf is not None), None)

    def _directives_on(self, ids: _ChainIds) -> Iterator[tuple[int, int, Directive]]:
        """The directives whose source path is on the chain, with its position; single-step ones merge nothing away."""
        for end in range(2, len(ids) + 1):
            for directive in self._directives.get(ids[end - 1], ()):
                start = end - len(directive.source)
                if 0 <= start < end - 1 and ids[start:end] == _ids(directive.source):
                    yield start, end, directive


def _leaf_below(target: _ChainIds, rest: _ChainIds, chains: Iterable[_ChainIds]) -> _ChainIds | None:
    """The leaf below a merge's target. A sub- or superclass has another name for its only value than `rest`."""
    below = [ids for ids in chains if ids[: len(target)] == target]
    if len(below) == 1:
        return below[0]
    return target + rest if target + rest in below else None


def _end(ids: _ChainIds, covers: Mapping[_ChainIds, _ChainIds]) -> _ChainIds:
    while ids in covers:
        ids = covers[ids]
    return ids


def _ids(chain: Chain) -> _ChainIds:
    return tuple(property_id(prop) for prop in chain)


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
