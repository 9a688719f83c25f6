"""Sleeping until there are changes: woken by PostgreSQL's NOTIFY, asking for nothing meanwhile.

Writers notify only while somebody waits, since it costs them (see `notify_listeners` in `sql/0001_documents.sql`). So
whoever wants to sleep first says that it waits, then looks once more. A writer that had asked before has taken its
version by then: either its change is seen, or its version is still missing and shows that somebody is writing.
That one will not notify, and is looked for again after a moment.
"""

from collections.abc import Iterator
from contextlib import contextmanager

from django.db import DEFAULT_DB_ALIAS, connections
from psycopg import Connection

_LISTEN = "LISTEN document_change"
_WAITS = "SELECT pg_advisory_lock_shared(change_version_lock()::integer, 0)"
_WAITS_NO_MORE = "SELECT pg_advisory_unlock_shared(change_version_lock()::integer, 0)"

# An idle connection that was lost without a word, by a firewall perhaps, is noticed after this long.
_LONGEST_SLEEP_SECONDS = 30.0


class Alarm:
    """Wakes this process when something has changed. Needs a connection of its own to the server: no PgBouncer in
    transaction mode."""

    def __init__(self, using: str = DEFAULT_DB_ALIAS) -> None:
        self._using = using

    @contextmanager
    def set(self) -> Iterator[None]:
        """From here on nobody commits a first change without waking us, if it was not writing already."""
        self._run(_LISTEN)
        self._run(_WAITS)
        try:
            yield
        finally:
            if not self._connection.closed:
                self._run(_WAITS_NO_MORE)

    def sleep(self, seconds: float = _LONGEST_SLEEP_SECONDS) -> None:
        """Until woken, at most so long. Raises django.db.OperationalError if the connection is lost."""
        if self._take_notifications():
            return
        with connections[self._using].wrap_database_errors:
            for _ in self._connection.notifies(timeout=seconds, stop_after=1):
                pass

    def _take_notifications(self) -> bool:
        """Whether some came along with the answer to a query: nothing more need come for these."""
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
