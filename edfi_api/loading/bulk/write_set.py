"""Determines which batches may be written concurrently: those whose results do not depend on their order.

Batches are written one after the other if one refers to a resource of which the other has documents, or if both have
the same document.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain

from edfi_api.model.surface.resource import Resource, ResourceName


@dataclass(frozen=True, slots=True)
class WriteSet:
    """The resource names under which a batch's documents can be referenced, those they refer to, and their ids."""

    provided: frozenset[ResourceName]
    referred: frozenset[ResourceName]
    ids: frozenset[bytes]

    def is_independent_of(self, other: "WriteSet") -> bool:
        return (
            self.referred.isdisjoint(other.provided)
            and self.provided.isdisjoint(other.referred)
            and self.ids.isdisjoint(other.ids)
        )


def write_set(resources: Sequence[Resource], aliases: Iterable[Iterable[bytes]]) -> WriteSet:
    """The write set of a batch with documents of these resources and these referential ids."""
    return WriteSet(
        provided=frozenset(chain.from_iterable(_names(resource) for resource in resources)),
        referred=frozenset(chain.from_iterable(_targets(resource) for resource in resources)),
        ids=frozenset(chain.from_iterable(aliases)),
    )


def _names(resource: Resource) -> Iterable[ResourceName]:
    return (resource.name, resource.superclass.name) if resource.superclass else (resource.name,)


def _targets(resource: Resource) -> Iterable[ResourceName]:
    yield from (reference.target for reference in resource.references)
    yield from (descriptor.target for descriptor in resource.descriptors)
