"""Database sessions of a load: threads with a connection each, and one wait for the disk at the end.

A crash of the server during a load can lose the most recent batches, but never a part of one; run the load again then.
"""

from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from typing import TypeVar

from django.db import connections
from django.db.backends.base.base import BaseDatabaseWrapper

Result = TypeVar("Result")

# A commit waits for the disk only if its transaction has written to the WAL; it then waits for all earlier WAL as well.
_WAIT_FOR_DISK = "SELECT pg_logical_emit_message(true, 'bulk load', '')"


@contextmanager
def bulk_session(using: str) -> Iterator[None]:
    """Everything committed within it, on any connection, is on disk when it ends."""
    with connections[using].cursor() as cursor:
        try:
            yield
        finally:
            cursor.execute(_WAIT_FOR_DISK)


class WritingThreads:
    """Threads that run statements while this one goes on, each with its own connection. Work starts in the order of
    submission."""

    def __init__(self, count: int, using: str) -> None:
        self._using = using
        self._connections: list[BaseDatabaseWrapper] = []
        self._pool = ThreadPoolExecutor(count, thread_name_prefix="bulk")

    def begin(self, work: Callable[[], Result]) -> Future[Result]:
        return self._pool.submit(self._run, work)

    def end(self) -> None:
        """Wait for running work, cancel the rest, close the connections."""
        self._pool.shutdown(cancel_futures=True)
        for connection in self._connections:
            connection.close()

    def _run(self, work: Callable[[], Result]) -> Result:
        connection = connections[self._using]
        if connection not in self._connections:
            connection.inc_thread_sharing()  # `end` closes it from another thread.
            self._connections.append(connection)
        return work()
