"""Reads several queries over several connections at once; their rows come in the order of the queries.

Each connection has a thread, which fetches some rows ahead of those that are taken. So a source works while what it has
sent is written, and memory does not grow with the number or the size of its rows.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Generic, NamedTuple, TypeVar

import psycopg
from psycopg import Connection, ServerCursor

Origin = TypeVar("Origin")
Rows = list[tuple[Any, ...]]

_MOST_ROWS = 1_000
_FIRST_ROWS = 10
# The size of texts that are fetched at once. A document may be of megabytes.
_BYTES = 2**20


class Portion(NamedTuple, Generic[Origin]):
    """A query for rows of texts. All rows of a `rank` come before those of a higher one; those of several
    portions of one rank come as they are read."""

    rank: int
    origin: Origin
    query: str


def read(connections: Sequence[Connection[Any]], portions: Iterable[Portion[Origin]]) -> Iterator[tuple[Origin, Rows]]:
    """The rows of portions, which are in the order of their ranks, some at a time. Raises psycopg.Error."""
    left = iter(portions)
    readers: list[_Reader[Origin]] = [_Reader(connection) for connection in connections]
    try:
        active = [reader for reader in readers if reader.begin(left)]
        while active:
            rank = min(reader.portion.rank for reader in active)
            ahead = {reader.fetched: reader for reader in active if reader.portion.rank == rank}
            done, _ = wait(ahead, return_when=FIRST_COMPLETED)
            for reader in map(ahead.__getitem__, done):
                origin, rows = reader.portion.origin, reader.fetched.result()
                if rows:
                    reader.fetch()
                    yield origin, rows
                elif not reader.begin(left):
                    active.remove(reader)
    finally:
        for reader in readers:
            reader.end()


@dataclass(slots=True)
class _Reader(Generic[Origin]):
    """A connection with its thread, and the rows that it fetches."""

    connection: Connection[Any]
    portion: Portion[Origin] = field(init=False)
    fetched: Future[Rows] = field(default_factory=Future)
    _thread: ThreadPoolExecutor = field(default_factory=partial(ThreadPoolExecutor, 1, "import_ods"))
    _cursor: ServerCursor[Any] | None = None
    _most_rows: int = _FIRST_ROWS

    def begin(self, left: Iterator[Portion[Origin]]) -> bool:
        """Read the next portion; False if there is none."""
        portion = next(left, None)
        if portion is None:
            return False
        self.portion = portion
        self.fetched = self._thread.submit(self._execute)
        return True

    def fetch(self) -> None:
        """Fetch some more rows; none at the end of the portion."""
        self.fetched = self._thread.submit(self._fetch)

    def end(self) -> None:
        """Stop what is being fetched."""
        if self.fetched.running():
            with suppress(psycopg.Error):
                self.connection.cancel_safe()
        self._thread.shutdown()

    def _execute(self) -> Rows:
        self._cursor, self._most_rows = ServerCursor(self.connection, "import_ods"), _FIRST_ROWS
        self._cursor.execute(self.portion.query)
        return self._fetch()

    def _fetch(self) -> Rows:
        assert self._cursor is not None  # noqa: S101  Executed before.
        rows = self._cursor.fetchmany(self._most_rows)
        size = sum(len(text) for row in rows for text in row if text)
        if not rows:
            self._cursor.close()
        elif size:
            self._most_rows = max(1, min(_MOST_ROWS, 2 * self._most_rows, self._most_rows * _BYTES // size))
        return rows
