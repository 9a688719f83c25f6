"""What identifies a document: the identity of an entity taken apart into scalar values.

A reference in an identity stands for the identity of its target, so the values form a tree of which this module
gives the leaves. Some leaves are merged away: the model says that they equal another one, and whoever refers to the
entity sees only that other.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from edfi_api.metaed.model import Entity, EntityKey, Property, PropertyType
from edfi_api.surface.declarations import Declarations, PropertyId, property_id
from edfi_api.surface.merges import Chain, Directive, follow_merges

NEVER_MERGED_AWAY = frozenset(
    {PropertyType.CHOICE, PropertyType.COMMON, PropertyType.INLINE_COMMON, PropertyType.SCHOOL_YEAR_ENUMERATION}
)

_ChainIds = tuple[PropertyId, ...]


@dataclass(frozen=True, slots=True, eq=False)
class IdentityLeaf:
    """One scalar value of an entity's identity and the way to it.

    For a leaf that is merged away, `covered_by` leads to the leaf that holds the value instead; it is None where the
    model gives no such leaf, and for all other leaves.
    """

    chain: Chain
    is_merged_away: bool = False
    covered_by: IdentityLeaf | None = None

    @property
    def prop(self) -> Property:
        return self.chain[-1]

    @property
    def path(self) -> tuple[str, ...]:
        return tuple(prop.full_name for prop in self.chain)

    @property
    def naming_chain(self) -> Chain:
        """The chain without inline commons, which leave no trace in the names of reference objects."""
        return tuple(prop for prop in self.chain if prop.type is not PropertyType.INLINE_COMMON)


class Identities:
    """The flattened identity of every entity, worked out once."""

    def __init__(self, declarations: Declarations) -> None:
        self._declarations = declarations
        self._directives = follow_merges(declarations)
        self._leaves: dict[EntityKey, tuple[IdentityLeaf, ...]] = {}

    def leaves(self, entity: Entity) -> tuple[IdentityLeaf, ...]:
        """All leaves, merged away or not; siblings in the order of their full names."""
        if entity.key not in self._leaves:
            self._leaves[entity.key] = self._with_merges(tuple(self._chains(entity)))
        return self._leaves[entity.key]

    def _chains(self, entity: Entity) -> Iterator[Chain]:
        for prop in sorted(self.identity_properties(entity), key=lambda p: p.full_name):
            if prop.type.is_reference or prop.type is PropertyType.INLINE_COMMON:
                yield from ((prop, *rest) for rest in self._chains(self._declarations.model.target(prop)))
            else:
                yield (prop,)

    def identity_properties(self, entity: Entity) -> list[Property]:
        """The identity properties, inherited ones included, and the inline commons that hold some."""
        return [prop for prop in self._declarations.effective_properties(entity) if self._is_identity(prop)]

    def _is_identity(self, prop: Property) -> bool:
        if prop.type is PropertyType.INLINE_COMMON:
            return bool(self.identity_properties(self._declarations.model.target(prop)))
        return prop.is_identity

    def _with_merges(self, chains: tuple[Chain, ...]) -> tuple[IdentityLeaf, ...]:
        merges = {_ids(chain): merge for chain in chains if (merge := self._merge_on(chain)) is not None}
        unmerged = {_ids(chain): IdentityLeaf(chain) for chain in chains if _ids(chain) not in merges}
        covers = _Covers(merges, unmerged)
        return tuple(
            IdentityLeaf(chain, is_merged_away=True, covered_by=covers.of(chain))
            if _ids(chain) in merges
            else unmerged[_ids(chain)]
            for chain in chains
        )

    def _merge_on(self, chain: Chain) -> _MergeOnChain | None:
        """The first directive that merges the chain's leaf, or something on the way to it, away."""
        if chain[-1].type in NEVER_MERGED_AWAY:
            return None
        passed: list[PropertyId] = []
        for index, prop in enumerate(chain):
            for directive in self._directives.get(property_id(prop), ()):
                if directive.carrier in passed and prop.type not in NEVER_MERGED_AWAY:
                    return _MergeOnChain(directive, passed.index(directive.carrier), index)
            passed.append(property_id(prop))
        return None


@dataclass(frozen=True, slots=True)
class _MergeOnChain:
    """Where on a chain the property that carries the directive stands, and where the source."""

    directive: Directive
    carrier_index: int
    source_index: int


@dataclass(frozen=True, slots=True)
class _Covers:
    """Finds the leaf that holds the value of one that is merged away."""

    merges: Mapping[_ChainIds, _MergeOnChain]
    unmerged: Mapping[_ChainIds, IdentityLeaf]

    def of(self, chain: Chain) -> IdentityLeaf | None:
        return self._of(_ids(chain), frozenset())

    def _of(self, chain: _ChainIds, seen: frozenset[_ChainIds]) -> IdentityLeaf | None:
        """Follows directive after directive, for a target may be merged away itself."""
        merge = self.merges.get(chain)
        if merge is None or chain in seen:
            return self.unmerged.get(chain)
        target = chain[: merge.carrier_index] + _ids(merge.directive.target)
        rest = chain[merge.source_index + 1 :]
        return self._of(self._branch(target, rest), seen | {chain})

    def _branch(self, target: _ChainIds, rest: _ChainIds) -> _ChainIds:
        """The chain below the target; a sub- or superclass calls its only value differently than `rest` does."""
        below = [chain for chain in (*self.unmerged, *self.merges) if chain[: len(target)] == target]
        return below[0] if len(below) == 1 else target + rest


def _ids(chain: Chain) -> _ChainIds:
    return tuple(property_id(prop) for prop in chain)
