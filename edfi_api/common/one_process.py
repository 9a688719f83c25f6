"""One process at a time, by advisory locks of PostgreSQL. It works before apps are loaded."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from django.db import connections
from django.db.backends.base.base import BaseDatabaseWrapper

# "mdwlark" in ASCII: the lock of a database that is being prepared, and of a server that gets a template.
PREPARING = 0x6D64776C61726B
_PAUSE_SECONDS = 0.2
# The transaction that holds a lock is idle, and has no snapshot that would keep vacuum from its work.
_NO_TIMEOUT = "SET LOCAL idle_in_transaction_session_timeout = 0"
_LOCK = "SELECT pg_try_advisory_xact_lock({})"
_NAMED = "hashtextextended('meadowlark ' || %s, 0)"


@contextmanager
def exclusively(name: str | int, using: str, otherwise: Callable[[], Exception | None]) -> Iterator[None]:
    """Hold the lock of this name, or number, in the database.

    If another process holds it, `otherwise` is called once: what it returns is raised; with None this one waits.
    The lock belongs to an open transaction on a connection of its own: it ends with the connection, so a killed process
    leaves none, and a pooler with transaction pooling cannot give the server connection to another client.
    """
    guard = connections.create_connection(using)
    try:
        guard.set_autocommit(False)
        if not _try_lock(name, guard):
            if error := otherwise():
                raise error
            # Polled, because a statement that waits for the lock would block a migration with CREATE INDEX
            # CONCURRENTLY, which waits for older snapshots to be released.
            while not _try_lock(name, guard):
                time.sleep(_PAUSE_SECONDS)
        yield
        guard.rollback()  # The server ends a closed connection later, and the next process may begin at once.
    finally:
        guard.close()


def wait_for_lock() -> None:
    """Do nothing, so that `exclusively` waits for the lock."""


def _try_lock(name: str | int, guard: BaseDatabaseWrapper) -> bool:
    guard.rollback()
    with guard.cursor() as cursor:
        cursor.execute(_NO_TIMEOUT)
        cursor.execute(_LOCK.format("%s" if isinstance(name, int) else _NAMED), [name])
        return bool(cursor.fetchone()[0])
