"""One process at a time prepares a database. Imports no model: programs use it before the apps of Django are loaded."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from django.db import DEFAULT_DB_ALIAS, connections
from django.db.backends.base.base import BaseDatabaseWrapper

# "mdwlark" in ASCII: the advisory lock of a database that is being prepared.
PREPARING = 0x6D64776C61726B
_PAUSE_SECONDS = 0.2


def _nothing() -> None:
    pass


@contextmanager
def exclusively(using: str = DEFAULT_DB_ALIAS, report_waiting: Callable[[], None] = _nothing) -> Iterator[None]:
    """Holds an advisory lock, so that no other process prepares the database at the same time; `report_waiting` is
    called once if one does.

    The lock belongs to an open transaction on a connection of its own: it ends with the connection, so a killed process
    leaves none, and a pooler with transaction pooling cannot give the server connection to another client.
    """
    guard = connections.create_connection(using)
    try:
        guard.set_autocommit(False)
        if not _is_lock_ours(guard):
            report_waiting()
            # Polled, because a statement that waits for the lock would block a migration with CREATE INDEX
            # CONCURRENTLY, which waits for older snapshots to be released.
            while not _is_lock_ours(guard):
                time.sleep(_PAUSE_SECONDS)
        yield
    finally:
        guard.close()
        connections[using].close()


def _is_lock_ours(guard: BaseDatabaseWrapper) -> bool:
    guard.rollback()
    with guard.cursor() as cursor:
        cursor.execute("SELECT pg_try_advisory_xact_lock(%s)", [PREPARING])
        return bool(cursor.fetchone()[0])
