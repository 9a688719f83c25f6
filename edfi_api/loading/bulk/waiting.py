"""Candidates that wait on disk for the documents they refer to, and the order in which those can be written.

A candidate waits as long as the targets it misses may still be written. All that is kept in memory is
SQLite's cache and, where documents refer to each other in a circle, the numbers of those.
"""

from collections.abc import Iterable, Iterator
from enum import IntEnum
from typing import NamedTuple
from uuid import UUID

from edfi_api.loading.temporary_database import TemporaryDatabase

_SCHEMA = """
CREATE TABLE waiting (
    number INTEGER PRIMARY KEY,  -- in the order of arrival
    rank INTEGER, source INTEGER, line INTEGER, text BLOB, own BLOB, state INTEGER,
    open INTEGER DEFAULT 0  -- how many of its targets are provided by candidates that have not been tried in this round
);
CREATE INDEX waiting_own ON waiting (own);
CREATE INDEX waiting_ready ON waiting (state, open, rank, number);
CREATE TABLE provided (alias BLOB, number INTEGER, PRIMARY KEY (alias, number)) WITHOUT ROWID;
CREATE INDEX provided_number ON provided (number);
CREATE TABLE missing (
    target BLOB, number INTEGER, is_open INTEGER DEFAULT 0, PRIMARY KEY (target, number)
) WITHOUT ROWID;
CREATE INDEX missing_number ON missing (number);
"""

# Read at a time: rows change while the candidates are being written, so no cursor stays open.
_READ_AT_ONCE = 500

_PROVIDERS = """
SELECT p.number FROM missing m JOIN provided p ON p.alias = m.target
 WHERE m.number = ? AND p.number <> m.number ORDER BY p.number
"""


class Place(NamedTuple):
    """Where a candidate comes from: the number of its source, and the line or position in it."""

    source: int
    line: int


class WaitingCandidate(NamedTuple):
    """A candidate that waits, with its number here and the rank of its resource in load order."""

    number: int
    rank: int
    place: Place
    text: bytes


class _State(IntEnum):
    WAITS = 0
    TRIED = 1  # in this round
    SUPERSEDING = 2  # written, while an earlier version of the same document waits
    TO_REPEAT = 3  # to be written again, behind that earlier version


class WaitingCandidates(TemporaryDatabase):
    """The candidates that wait, by number (`storage.sets.rounds.WaitingInRounds`)."""

    def __init__(self) -> None:
        super().__init__(_SCHEMA)
        self._size = 0
        # In this round, all candidates with lower numbers have been tried.
        self._tried_below = 0
        self._ranks: set[int] = set()

    def __len__(self) -> int:
        return self._size

    def add(self, rank: int, place: Place, text: bytes, aliases: Iterable[bytes], missing: Iterable[UUID]) -> None:
        number = self._insert(rank, place, text, aliases, _State.WAITS)
        self._set_missing(number, missing)
        self._database.executemany("INSERT INTO provided VALUES (?, ?)", [(alias, number) for alias in aliases])
        self._ranks.add(rank)
        self._size += 1

    def follow(self, rank: int, place: Place, text: bytes, aliases: tuple[bytes, ...]) -> None:
        """Keep what has been written if an earlier version of the same document waits, to write it again after that."""
        if rank in self._ranks and self._has_earlier(aliases[0]):
            self._insert(rank, place, text, aliases, _State.SUPERSEDING)

    def may_come(self, missing: Iterable[UUID], number: int) -> bool:
        """Whether other candidates that wait provide all these targets."""
        query = (
            "SELECT 1 FROM provided p JOIN waiting w ON w.number = p.number WHERE p.alias = ? AND p.number <> ? LIMIT 1"
        )
        return all(self._database.execute(query, (target.bytes, number)).fetchone() for target in missing)

    def wait_again(self, number: int, missing: Iterable[UUID]) -> None:
        """Until the next round, for these targets."""
        self._database.execute("DELETE FROM missing WHERE number = ?", (number,))
        self._set_missing(number, missing)

    def written(self, number: int, own: bytes) -> None:
        """Take a candidate out that has been written; later versions of the same document have to be written again."""
        again = "UPDATE waiting SET state = ? WHERE own = ? AND state = ? AND number > ?"
        self._database.execute(again, (_State.TO_REPEAT, own, _State.SUPERSEDING, number))
        self._leave(number)
        if self._has_earlier(own, number):
            self._database.execute("UPDATE waiting SET state = ? WHERE number = ?", (_State.SUPERSEDING, number))
        else:
            self._database.execute("DELETE FROM waiting WHERE number = ?", (number,))

    def remove(self, number: int) -> None:
        """Take a candidate out that is refused."""
        self._leave(number)
        self._database.execute("DELETE FROM waiting WHERE number = ?", (number,))

    def begin_round(self) -> None:
        """All candidates that wait are tried again."""
        self._tried_below = 0
        self._database.execute("UPDATE waiting SET state = ? WHERE state = ?", (_State.WAITS, _State.TRIED))
        self._database.execute(
            "UPDATE missing SET is_open = EXISTS "
            "(SELECT 1 FROM provided p WHERE p.alias = missing.target AND p.number <> missing.number)"
        )
        self._database.execute(
            "UPDATE waiting SET open = (SELECT count(*) FROM missing m WHERE m.number = waiting.number AND m.is_open)"
        )

    def in_dependency_order(self) -> Iterator[WaitingCandidate]:
        """Those that do not depend on a circle, each behind all that it refers to, as if every one will be written."""
        ready = "state = ? AND open = 0 ORDER BY rank, number LIMIT ?"
        while found := self._where(ready, (_State.WAITS, _READ_AT_ONCE)):
            self.mark_tried([waiting.number for waiting in found])
            yield from found

    def next_untried(self) -> int | None:
        # Without the index on the state, whose rows would have to be sorted.
        query = "SELECT number FROM waiting WHERE number >= ? AND +state = ? ORDER BY number LIMIT 1"
        row = self._database.execute(query, (self._tried_below, _State.WAITS)).fetchone()
        if row is None:
            return None
        self._tried_below = int(row[0])
        return self._tried_below

    def untried_providers(self, number: int) -> Iterator[int]:
        is_untried = "SELECT 1 FROM waiting WHERE number = ? AND state = ?"
        for (found,) in self._database.execute(_PROVIDERS, (number,)).fetchall():
            if self._database.execute(is_untried, (found, _State.WAITS)).fetchone():
                yield found

    def mark_tried(self, numbers: Iterable[int]) -> None:
        for number in numbers:
            self._database.execute("UPDATE waiting SET state = ? WHERE number = ?", (_State.TRIED, number))
            released = self._database.execute(
                "UPDATE missing SET is_open = 0 WHERE is_open AND number <> ?1 AND target IN "
                "(SELECT alias FROM provided WHERE number = ?1) RETURNING number",
                (number,),
            ).fetchall()
            self._database.executemany("UPDATE waiting SET open = open - 1 WHERE number = ?", released)

    def candidates(self, numbers: Iterable[int]) -> list[WaitingCandidate]:
        """Those with these numbers."""
        return [waiting for number in numbers for waiting in self._where("number = ?", (number,))]

    def to_repeat(self) -> list[WaitingCandidate]:
        """Some of those to be written again."""
        found = self._where("state = ? ORDER BY number LIMIT ?", (_State.TO_REPEAT, _READ_AT_ONCE))
        numbers = [(_State.SUPERSEDING, waiting.number) for waiting in found]
        self._database.executemany("UPDATE waiting SET state = ? WHERE number = ?", numbers)
        return found

    def left(self) -> Iterator[WaitingCandidate]:
        """All that wait, by number; each is taken out."""
        while found := self._where("state IN (0, 1) ORDER BY number LIMIT ?", (_READ_AT_ONCE,)):
            for waiting in found:
                self.remove(waiting.number)
                yield waiting

    def _insert(self, rank: int, place: Place, text: bytes, aliases: Iterable[bytes], state: _State) -> int:
        own = next(iter(aliases))
        query = "INSERT INTO waiting (rank, source, line, text, own, state) VALUES (?, ?, ?, ?, ?, ?)"
        return self._database.execute(query, (rank, *place, text, own, state)).lastrowid or 0

    def _set_missing(self, number: int, missing: Iterable[UUID]) -> None:
        rows = [(target.bytes, number) for target in missing]
        self._database.executemany("INSERT INTO missing (target, number) VALUES (?, ?)", rows)

    def _leave(self, number: int) -> None:
        self._database.execute("DELETE FROM missing WHERE number = ?", (number,))
        self._database.execute("DELETE FROM provided WHERE number = ?", (number,))
        self._size -= 1

    def _has_earlier(self, own: bytes, number: int | None = None) -> bool:
        query = "SELECT 1 FROM waiting WHERE own = ?1 AND state IN (0, 1) AND (?2 IS NULL OR number < ?2) LIMIT 1"
        return self._database.execute(query, (own, number)).fetchone() is not None

    def _where(self, condition: str, parameters: tuple[int, ...]) -> list[WaitingCandidate]:
        query = "SELECT number, rank, source, line, text FROM waiting WHERE "
        rows = self._database.execute(query + condition, parameters).fetchall()
        return [WaitingCandidate(number, rank, Place(source, line), text) for number, rank, source, line, text in rows]
