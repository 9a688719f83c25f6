"""Database sessions for a load: threads with a connection each, and the disk that is waited for at the end.

A crash while a load goes on loses the newest batches as wholes, never a part of one; the load is then run again.
"""

from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from typing import TypeVar

from django.db import connections
from django.db.backends.base.base import BaseDatabaseWrapper

Result = TypeVar("Result")

# A commit waits for the disk only if its transaction has written something; then for all before it too.
_WAIT_FOR_DISK = "SELECT pg_logical_emit_message(true, 'bulk load', '')"


@contextmanager
def bulk_session(using: str) -> Iterator[None]:
    """All that was committed in it, on whatever connection, is on disk at the end."""
    with connections[using].cursor() as cursor:
        try:
            yield
        finally:
            cursor.execute(_WAIT_FOR_DISK)


class WritingThreads:
    """Threads that wait for PostgreSQL so that this one need not, each with a connection of its own. What was begun
    earlier is never behind what was begun later."""

    def __init__(self, count: int, using: str) -> None:
        self._using = using
        self._connections: list[BaseDatabaseWrapper] = []
        self._pool = ThreadPoolExecutor(count, thread_name_prefix="bulk")

    def begin(self, work: Callable[[], Result]) -> Future[Result]:
        return self._pool.submit(self._run, work)

    def end(self) -> None:
        """Let what is being written end, and leave out what has not begun."""
        self._pool.shutdown(cancel_futures=True)
        for connection in self._connections:
            connection.close()

    def _run(self, work: Callable[[], Result]) -> Result:
        connection = connections[self._using]
        if connection not in self._connections:
            connection.inc_thread_sharing()  # It is closed by the thread that ends the others.
            self._connections.append(connection)
        return work()
