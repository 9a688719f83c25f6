"""Changes of stored documents that wait until it is known that no later candidate is for the same document.

A file may have a document twice. Written as it comes, each load of the file would change the document twice, and give
it new versions though it ends as it was.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from edfi_api.core.storage.temporary_database import TemporaryDatabase
from edfi_api.features.loading.bulk.candidates import Candidate, Place
from edfi_api.model.surface.resource import Resource

_SCHEMA = """
CREATE TABLE held (
    own BLOB UNIQUE, rank INTEGER, source INTEGER, line INTEGER, text BLOB,
    has_replaced INTEGER  -- whether an earlier candidate was written before
);
"""
_HOLD = "INSERT OR REPLACE INTO held VALUES (?, ?, ?, ?, ?, ?)"
_HELD = "SELECT rank, source, line, text, has_replaced FROM held WHERE own = ?"
_IN_ORDER = "SELECT rank, source, line, text, has_replaced FROM held ORDER BY rank, source, line"


class Held(NamedTuple):
    """The origin of a candidate that has waited; `has_replaced` says that an earlier one was written before it."""

    place: Place
    has_replaced: bool


class HeldChanges(TemporaryDatabase):
    """The last candidate of each document; `resources` are in load order."""

    def __init__(self, resources: Sequence[Resource]) -> None:
        super().__init__(_SCHEMA)
        self._resources = resources
        self._size = 0

    def __len__(self) -> int:
        return self._size

    def hold(self, own: bytes, rank: int, candidate: Candidate[Place], *, has_replaced: bool) -> None:
        """Let a candidate wait, in place of an earlier one for the same document."""
        self._size += self.of(own) is None
        self._database.execute(_HOLD, (own, rank, *candidate.origin, candidate.text, has_replaced))

    def of(self, own: bytes) -> Candidate[Place] | None:
        """Return the candidate that waits for a document, or None."""
        row = self._database.execute(_HELD, (own,)).fetchone() if self._size else None
        return None if row is None else self._candidate(row)

    def drop(self, own: bytes) -> None:
        """Drop the candidate that waits for a document, since a later one counts."""
        self._database.execute("DELETE FROM held WHERE own = ?", (own,))
        self._size -= 1

    def in_order(self) -> Iterator[Candidate[Held]]:
        """Yield all candidates in load order, those of a resource as they came."""
        for row in self._database.execute(_IN_ORDER):
            resource, text, place = self._candidate(row)
            yield Candidate(resource, text, Held(place, bool(row[-1])))

    def clear(self) -> None:
        """Drop all candidates."""
        self._database.execute("DELETE FROM held")
        self._size = 0

    def _candidate(self, row: tuple[int, int, int, bytes, int]) -> Candidate[Place]:
        rank, source, line, text, _ = row
        return Candidate(self._resources[rank], text, Place(source, line))
