"""Divides candidates into batches, one per transaction: of one resource, bounded in number and bytes.

With one resource per batch, all targets except those of the same resource are in the database when a batch is written;
descriptors refer to nothing and may be mixed.
"""

from collections.abc import Iterable, Iterator
from typing import Any

from edfi_api.loading.bulk.candidates import Candidate
from edfi_api.model.surface.resource import Resource

Batch = list[Candidate[Any]]

MOST_DOCUMENTS = 2_000
_MOST_BYTES = 8 * 1024 * 1024


def batches(candidates: Iterable[Candidate[Any]]) -> Iterator[Batch]:
    """All candidates in their order, in batches."""
    batch: Batch = []
    size = 0
    for candidate in candidates:
        if batch and (
            len(batch) >= MOST_DOCUMENTS
            or size >= _MOST_BYTES
            or not _may_stand_together(batch[0].resource, candidate.resource)
        ):
            yield batch
            batch, size = [], 0
        batch.append(candidate)
        size += len(candidate.text)
    if batch:
        yield batch


def _may_stand_together(one: Resource, other: Resource) -> bool:
    return one is other or one.name == other.name or (one.is_descriptor and other.is_descriptor)
