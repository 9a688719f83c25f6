"""Divides candidates into batches, one per transaction: of one resource, bounded in number and bytes.

With one resource per batch, all targets except those of the same resource are in the database when a batch is written;
descriptors refer to nothing and may be mixed. Batches are written one after the other if one refers to a resource of
which the other has documents, or if both have the same document; the write sets say so.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

from edfi_api.features.loading.bulk.candidates import Candidate
from edfi_api.model.surface.resource import Resource, ResourceName

Batch = list[Candidate[Any]]

MOST_DOCUMENTS = 2_000
_MOST_BYTES = 8 * 1024 * 1024


def batches(
    candidates: Iterable[Candidate[Any]], goes_alone: Callable[[Resource], bool] = lambda _: False
) -> Iterator[Batch]:
    """All candidates in their order, in batches. A document of a resource that `goes_alone` is a batch of its own."""
    batch: Batch = []
    size = 0
    for candidate in candidates:
        if batch and (
            len(batch) >= MOST_DOCUMENTS
            or size >= _MOST_BYTES
            or not _may_stand_together(batch[0].resource, candidate.resource)
            or goes_alone(candidate.resource)
            or goes_alone(batch[0].resource)
        ):
            yield batch
            batch, size = [], 0
        batch.append(candidate)
        size += len(candidate.text)
    if batch:
        yield batch


def _may_stand_together(one: Resource, other: Resource) -> bool:
    return one is other or one.name == other.name or (one.is_descriptor and other.is_descriptor)


def are_descriptors(batch: Batch) -> bool:
    """Whether a batch is one of descriptors."""
    return batch[0].resource.is_descriptor


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
