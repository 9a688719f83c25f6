"""Many documents through `prepare` and `store`, one after the other, as a client would write them.

What is refused is handed back beside what was written; nothing stops the rest. The order is the caller's.
"""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, get_args

from django.db import DEFAULT_DB_ALIAS, connections

from edfi_api.documents import store
from edfi_api.documents.exceptions import ClientAssignedId, DataValidationFailed, IdentityConflict, TooMuchContention
from edfi_api.documents.incoming import Preparer
from edfi_api.documents.store import Outcome
from edfi_api.surface.resource import Resource, ResourceName
from references.exceptions import UnresolvedReference

Refusal = DataValidationFailed | ClientAssignedId | IdentityConflict | UnresolvedReference | TooMuchContention
_REFUSALS = get_args(Refusal)


@dataclass(frozen=True, slots=True)
class Candidate:
    """A body that wants to become a document of this resource; `origin` tells people where it stands."""

    resource: Resource
    body: dict[str, Any]
    origin: str


@dataclass(frozen=True, slots=True)
class Written:
    """What became of a candidate: an outcome, or the refusal."""

    candidate: Candidate
    result: Outcome | Refusal


class BulkWriter:
    """Writes one candidate after the other; each resource is compiled when its first candidate comes."""

    def __init__(self, using: str) -> None:
        self._using = using
        self._preparers: dict[ResourceName, Preparer] = {}

    def write(self, candidate: Candidate) -> Written:
        try:
            _, outcome = store.upsert(self._preparer(candidate.resource).prepare_new(candidate.body), using=self._using)
        except _REFUSALS as refusal:
            return Written(candidate, refusal)
        return Written(candidate, outcome)

    def _preparer(self, resource: Resource) -> Preparer:
        if resource.name not in self._preparers:
            self._preparers[resource.name] = Preparer(resource)
        return self._preparers[resource.name]


@contextmanager
def bulk_writer(using: str = DEFAULT_DB_ALIAS) -> Iterator[BulkWriter]:
    """For a caller that decides after each result what to write next."""
    with _one_wait_for_the_disk(using):
        yield BulkWriter(using)


def write_documents(candidates: Iterable[Candidate], using: str = DEFAULT_DB_ALIAS) -> Iterator[Written]:
    """Write the candidates in the given order; a result for each."""
    with bulk_writer(using) as writer:
        for candidate in candidates:
            yield writer.write(candidate)


@contextmanager
def _one_wait_for_the_disk(using: str) -> Iterator[None]:
    """Commits return before the disk has them, until the end, which waits for all.

    A crash in between loses the newest documents as a whole, never a part of one; the load is then run again.
    """
    with connections[using].cursor() as cursor:
        cursor.execute("SET synchronous_commit TO off")
        try:
            yield
        finally:
            cursor.execute("SET synchronous_commit TO on")
            cursor.execute("SELECT txid_current()")  # a commit with a transaction id flushes all before it
