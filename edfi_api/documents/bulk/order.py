"""Which batches may be written side by side: those that leave the same behind, and get the same answers, in any order.

Neither may refer to a kind of document that the other has, nor may both have one document: then they go one after the
other.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain

from edfi_api.surface.resource import Resource, ResourceName


@dataclass(frozen=True, slots=True)
class Footprint:
    """What a batch touches: the names its documents can be referred to by, those they refer to, their ids."""

    provided: frozenset[ResourceName]
    referred: frozenset[ResourceName]
    ids: frozenset[bytes]

    def is_independent_of(self, other: "Footprint") -> bool:
        return (
            self.referred.isdisjoint(other.provided)
            and self.provided.isdisjoint(other.referred)
            and self.ids.isdisjoint(other.ids)
        )


def footprint(resources: Sequence[Resource], aliases: Iterable[Iterable[bytes]]) -> Footprint:
    """Of a batch with documents of these resources and with these ids."""
    return Footprint(
        provided=frozenset(chain.from_iterable(_names(resource) for resource in resources)),
        referred=frozenset(chain.from_iterable(_targets(resource) for resource in resources)),
        ids=frozenset(chain.from_iterable(aliases)),
    )


def _names(resource: Resource) -> Iterable[ResourceName]:
    return (resource.name, resource.superclass.name) if resource.superclass else (resource.name,)


def _targets(resource: Resource) -> Iterable[ResourceName]:
    yield from (reference.target for reference in resource.references)
    yield from (descriptor.target for descriptor in resource.descriptors)
