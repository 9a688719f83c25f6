"""Waits for changes with PostgreSQL's LISTEN and NOTIFY, without polling.

Writers notify only while there are listeners, since NOTIFY costs them time (see `notify_listeners` in
`sql/documents.sql`). A listener first takes a shared advisory lock that announces it, and then checks once more
for changes. A writer that looked for listeners before has taken its change version by then: either its change is
visible, or its version is still unsettled, which shows that a writer is active. That writer does not notify, so the
caller polls until it ends.
"""

from collections.abc import Iterator
from contextlib import contextmanager

from django.db import DEFAULT_DB_ALIAS, connections
from psycopg import Connection

_LISTEN = "LISTEN document_change"
_ANNOUNCE = "SELECT pg_advisory_lock_shared(change_version_lock()::integer, 0)"
_WITHDRAW = "SELECT pg_advisory_unlock_shared(change_version_lock()::integer, 0)"

# A connection that was dropped silently, for example by a firewall, is detected after at most this time.
_LONGEST_WAIT_SECONDS = 30.0


class ChangeListener:
    """Listens for changes. Needs a session of its own: does not work with PgBouncer in transaction mode."""

    def __init__(self, using: str = DEFAULT_DB_ALIAS) -> None:
        self._using = using

    @contextmanager
    def listening(self) -> Iterator[None]:
        """Within the context, every commit with changes notifies this session, except those of transactions that had
        started writing before."""
        self._run(_LISTEN)
        self._run(_ANNOUNCE)
        try:
            yield
        finally:
            if not self._connection.closed:
                self._run(_WITHDRAW)

    def wait(self, seconds: float = _LONGEST_WAIT_SECONDS) -> None:
        """Wait for a notification, at most this long. Raises django.db.OperationalError if the connection is lost."""
        if self._take_notifications():
            return
        with connections[self._using].wrap_database_errors:
            for _ in self._connection.notifies(timeout=seconds, stop_after=1):
                pass

    def _take_notifications(self) -> bool:
        """Whether notifications have already arrived together with the result of a query; removes them."""
        were_there = False
        while self._connection.pgconn.notifies():
            were_there = True
        return were_there

    def _run(self, statement: str) -> None:
        with connections[self._using].cursor() as cursor:
            cursor.execute(statement)

    @property
    def _connection(self) -> Connection:
        connection: Connection = connections[self._using].connection
        return connection
