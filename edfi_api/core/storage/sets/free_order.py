"""The order in which documents can be written that refer to each other, whatever order they come in.

What cannot be written yet waits. Passes try what waits, each document after what it refers to, and then circles at
once, as long as less is waiting after each. Loads and batches of the API both decide here.
"""

from collections.abc import Callable, Iterable, Iterator, Sized
from typing import Protocol, TypeVar
from uuid import UUID

from edfi_api.core.storage.temporary_database import TemporaryDatabase

Result = TypeVar("Result")

_SCHEMA = """
CREATE TABLE waiting (
    number INTEGER PRIMARY KEY,
    rank INTEGER,
    may_be_in_circle INTEGER,
    is_tried INTEGER DEFAULT 0,  -- in this pass
    open INTEGER DEFAULT 0  -- how many of its targets, and of its own ids by earlier ones, untried documents provide
);
CREATE INDEX waiting_ready ON waiting (is_tried, open, rank, number);
CREATE TABLE provided (alias BLOB, number INTEGER, PRIMARY KEY (alias, number)) WITHOUT ROWID;
CREATE INDEX provided_number ON provided (number);
CREATE TABLE missing (
    target BLOB, number INTEGER, is_open INTEGER DEFAULT 0, PRIMARY KEY (target, number)
) WITHOUT ROWID;
CREATE INDEX missing_number ON missing (number);
"""

# Read at a time: rows change while documents are being written, so no cursor stays open.
_READ_AT_ONCE = 500

_OPEN_TARGETS = """
UPDATE missing SET is_open = EXISTS (
    SELECT 1 FROM provided p WHERE p.alias = missing.target AND p.number <> missing.number
)
"""
_OPEN = """
UPDATE waiting SET is_tried = 0, open = (
    SELECT count(*) FROM missing m WHERE m.number = waiting.number AND m.is_open
) + (
    SELECT count(*) FROM provided own WHERE own.number = waiting.number AND EXISTS (
        SELECT 1 FROM provided earlier WHERE earlier.alias = own.alias AND earlier.number < own.number
    )
)
"""
_READY = "SELECT number FROM waiting WHERE is_tried = 0 AND open = 0 ORDER BY rank, number LIMIT ?"
# Without the index on `is_tried`, whose rows would have to be sorted.
_NEXT_UNTRIED = "SELECT number FROM waiting WHERE number >= ? AND +is_tried = 0 ORDER BY number LIMIT 1"
_RELEASED = """
UPDATE missing SET is_open = 0
 WHERE is_open AND number <> ?1 AND target IN (SELECT alias FROM provided WHERE number = ?1) RETURNING number
"""
_NEXT_VERSIONS = """
SELECT (SELECT min(later.number) FROM provided later WHERE later.alias = own.alias AND later.number > own.number)
  FROM provided own WHERE own.number = ?
"""
_PROVIDERS = """
SELECT p.number FROM missing m JOIN provided p ON p.alias = m.target
 WHERE m.number = ? AND p.number <> m.number ORDER BY p.number
"""


class DeferredDocuments(TemporaryDatabase):
    """Documents that wait: numbers in the order in which they came, each with what it provides and what it misses.

    Those that provide the same are for one document and keep their order. Of all others the one of the lower rank comes
    first. A few megabytes are kept in memory, the rest on disk. `schema` creates tables of a subclass.
    """

    def __init__(self, schema: str = "") -> None:
        super().__init__(_SCHEMA + schema)
        self._size = 0
        # In this pass, all with lower numbers have been tried.
        self._tried_below = 0

    def __len__(self) -> int:
        return self._size

    def __iter__(self) -> Iterator[int]:
        return (number for (number,) in self._database.execute("SELECT number FROM waiting").fetchall())

    def add(
        self, number: int, rank: int, own: Iterable[bytes], missing: Iterable[UUID], *, may_be_in_circle: bool = True
    ) -> None:
        """Let it wait; `own` are the referential ids that it provides, `missing` the targets that do not exist."""
        row = (number, rank, may_be_in_circle)
        self._database.execute("INSERT INTO waiting (number, rank, may_be_in_circle) VALUES (?, ?, ?)", row)
        self._database.executemany("INSERT INTO provided VALUES (?, ?)", [(alias, number) for alias in own])
        self._record_missing(number, missing)
        self._size += 1

    def wait_again(self, number: int, missing: Iterable[UUID], *, may_be_in_circle: bool = True) -> None:
        """Let the row wait for these targets until the next pass."""
        self._database.execute("UPDATE waiting SET may_be_in_circle = ? WHERE number = ?", (may_be_in_circle, number))
        self._database.execute("DELETE FROM missing WHERE number = ?", (number,))
        self._record_missing(number, missing)

    def remove(self, number: int) -> None:
        """Remove a document that has been written or refused."""
        self._database.execute("DELETE FROM missing WHERE number = ?", (number,))
        self._database.execute("DELETE FROM provided WHERE number = ?", (number,))
        self._database.execute("DELETE FROM waiting WHERE number = ?", (number,))
        self._size -= 1

    def has_earlier(self, own: Iterable[bytes], number: int | None = None) -> bool:
        """Return whether one for the same document waits that came before this number; without a number whether any
        does."""
        query = "SELECT 1 FROM provided WHERE alias = ?1 AND (?2 IS NULL OR number < ?2) LIMIT 1"
        return any(self._database.execute(query, (alias, number)).fetchone() for alias in own)

    def may_come(self, missing: Iterable[UUID], number: int) -> bool:
        """Return whether others that wait provide all these targets."""
        query = "SELECT 1 FROM provided WHERE alias = ? AND number <> ? LIMIT 1"
        return all(self._database.execute(query, (target.bytes, number)).fetchone() for target in missing)

    def begin_pass(self) -> Iterator[int]:
        """Begin a pass: those that do not depend on a circle, each after all that it refers to, as if every one will
        be written."""
        self._reset_tried()
        yield from self._take_ready()

    def left(self) -> Iterator[int]:
        """All that wait, in the same order as far as there are no circles."""
        yield from self.begin_pass()
        while (first := self.next_untried()) is not None:
            self.mark_tried([first])
            yield first
            yield from self._take_ready()

    def begin_circles(self) -> None:
        """Begin to search for circles, among those that may be in one."""
        self._reset_tried()
        self._database.execute("UPDATE waiting SET is_tried = 1 WHERE NOT may_be_in_circle")

    def next_untried(self) -> int | None:
        row = self._database.execute(_NEXT_UNTRIED, (self._tried_below,)).fetchone()
        if row is None:
            return None
        self._tried_below = int(row[0])
        return self._tried_below

    def untried_providers(self, number: int) -> Iterator[int]:
        is_untried = "SELECT 1 FROM waiting WHERE number = ? AND is_tried = 0"
        for (found,) in self._database.execute(_PROVIDERS, (number,)).fetchall():
            if self._database.execute(is_untried, (found,)).fetchone():
                yield found

    def mark_tried(self, numbers: Iterable[int]) -> None:
        for number in numbers:
            marked = "UPDATE waiting SET is_tried = 1 WHERE number = ? AND is_tried = 0"
            if self._database.execute(marked, (number,)).rowcount:
                released = self._database.execute(_RELEASED, (number,)).fetchall()
                released += self._database.execute(_NEXT_VERSIONS, (number,)).fetchall()
                self._database.executemany("UPDATE waiting SET open = open - 1 WHERE number = ?", released)

    def _take_ready(self) -> Iterator[int]:
        while found := [number for (number,) in self._database.execute(_READY, (_READ_AT_ONCE,)).fetchall()]:
            self.mark_tried(found)
            yield from found

    def _reset_tried(self) -> None:
        self._tried_below = 0
        self._database.execute(_OPEN_TARGETS)
        self._database.execute(_OPEN)

    def _record_missing(self, number: int, missing: Iterable[UUID]) -> None:
        rows = [(target.bytes, number) for target in missing]
        self._database.executemany("INSERT INTO missing (target, number) VALUES (?, ?)", rows)


class WaitingInPasses(Sized, Protocol):
    """Documents that wait, by number; in each pass, each of them is tried once."""

    def next_untried(self) -> int | None:
        """The first one that has not been tried in this pass."""

    def untried_providers(self, number: int) -> Iterator[int]:
        """The others that provide what this one misses, and have not been tried when they are taken."""

    def mark_tried(self, numbers: Iterable[int]) -> None:
        """Mark the rows as tried: in this pass they are neither returned nor waited for again."""


def in_passes(
    waiting: Sized, one_pass: Callable[[], Iterator[Result]], circles: Callable[[], Iterator[Result]]
) -> Iterator[Result]:
    """The results of passes, as long as less is waiting after each; those of circles where a pass changes nothing."""
    is_progress = True
    while len(waiting) and is_progress:
        before = len(waiting)
        yield from one_pass()
        if len(waiting) == before:
            yield from circles()
        is_progress = len(waiting) < before


def next_circles(waiting: WaitingInPasses, enough: int, most: int) -> list[int]:
    """The members of circles not yet tried in this pass, with all that they refer to, in order: until there are
    `enough`, or no more circles. One of more than `most` documents is left out."""
    members: set[int] = set()
    for circle in _circles(waiting, most):
        members |= circle if len(circle) <= most else set()
        if len(members) >= enough:
            break
    return sorted(members)


def _circles(waiting: WaitingInPasses, most: int) -> Iterator[set[int]]:
    """Depth first, each document once: one without providers that are left is in no circle."""
    while (start := waiting.next_untried()) is not None:
        path = {start: waiting.untried_providers(start)}
        while path:
            last = next(reversed(path))
            provider = next(path[last], None)
            if provider is None:
                waiting.mark_tried([last])
                del path[last]
            elif provider not in path:
                path[provider] = waiting.untried_providers(provider)
            else:
                circle = _with_targets(provider, waiting, most)
                waiting.mark_tried(circle)
                for number in circle:
                    path.pop(number, None)
                yield circle


def _with_targets(member: int, waiting: WaitingInPasses, most: int) -> set[int]:
    """All that a member of a circle refers to, itself included; not all if they are more than `most`."""
    members, ahead = {member}, [member]
    while ahead and len(members) <= most:
        new = set(waiting.untried_providers(ahead.pop())) - members
        members |= new
        ahead += new
    return members
