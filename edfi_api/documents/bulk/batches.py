"""Candidates cut into batches: as many as one transaction takes, of one resource, bounded in bytes.

Documents of one resource stand together so that whatever they refer to (but for their own kind) is in the database
when their turn comes; descriptors refer to nothing and may be mixed.
"""

import pickle
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from edfi_api.documents.bulk.candidates import Candidate
from edfi_api.surface.resource import Resource

MOST_DOCUMENTS = 2_000
_MOST_BYTES = 8 * 1024 * 1024


@dataclass(slots=True)
class Batch:
    """Candidates, and their bodies in the form in which they go to another process."""

    candidates: list[Candidate] = field(default_factory=list)
    bodies: list[bytes] = field(default_factory=list)
    size: int = 0

    def add(self, candidate: Candidate) -> None:
        body = pickle.dumps(candidate.body, pickle.HIGHEST_PROTOCOL)
        self.candidates.append(candidate)
        self.bodies.append(body)
        self.size += len(body)

    def takes(self, candidate: Candidate) -> bool:
        """Whether it may stand behind those that are in already."""
        if not self.candidates:
            return True
        is_full = len(self.candidates) >= MOST_DOCUMENTS or self.size >= _MOST_BYTES
        return not is_full and _may_stand_together(self.candidates[-1].resource, candidate.resource)


def batches(candidates: Iterable[Candidate]) -> Iterator[Batch]:
    """All candidates in their order."""
    batch = Batch()
    for candidate in candidates:
        if not batch.takes(candidate):
            yield batch
            batch = Batch()
        batch.add(candidate)
    if batch.candidates:
        yield batch


def _may_stand_together(one: Resource, other: Resource) -> bool:
    return one.name == other.name or (one.is_descriptor and other.is_descriptor)
