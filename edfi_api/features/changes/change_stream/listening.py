"""Waits for events without polling, by PostgreSQL's LISTEN and NOTIFY, and retries after outages of the database.

Writers notify only while there are listeners, since NOTIFY costs them time (see `notify_listeners` in
`sql/documents.sql`). A listener first takes a shared advisory lock that announces it, and then checks once more for
events. A writer that looked for listeners before has taken its version by then: either its event is visible, or its
version is still unsettled, which shows that a writer is active. That writer does not notify, so the caller polls until
it ends.
"""

import logging
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from django.db import DEFAULT_DB_ALIAS, DatabaseError, InterfaceError, connections
from psycopg import Connection

from edfi_api.common.back_off import BackOff
from edfi_api.core.storage.driver.exceptions import is_outage

log = logging.getLogger(__name__)

FIRST_LOOK_SECONDS, LAST_LOOK_SECONDS = 0.02, 1.0
_LONGEST_OUTAGE_PAUSE_SECONDS = 30.0
# A connection that was dropped silently, for example by a firewall, is detected after at most this time.
_LONGEST_WAIT_SECONDS = 30.0

_LISTEN = "LISTEN document_change"
_ANNOUNCE = "SELECT pg_advisory_lock_shared(change_version_lock()::integer, 0)"
_WITHDRAW = "SELECT pg_advisory_unlock_shared(change_version_lock()::integer, 0)"


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


def retry_on_outage(run: Callable[[], None], using: str = DEFAULT_DB_ALIAS) -> None:
    """Run, and run again with growing pauses if it fails because of an outage of the database."""
    back_off = BackOff(FIRST_LOOK_SECONDS, _LONGEST_OUTAGE_PAUSE_SECONDS)
    while True:
        started = time.monotonic()
        try:
            return run()
        except (DatabaseError, InterfaceError) as error:
            if not is_outage(error):
                raise
            if time.monotonic() - started > _LONGEST_OUTAGE_PAUSE_SECONDS:
                back_off.reset()
            pause = back_off.pause()
            log.warning("the database is unavailable, trying again in %.1f seconds: %s", pause, str(error).strip())
            connections[using].close()
            time.sleep(pause)
