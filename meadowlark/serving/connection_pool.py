"""A pool of database connections for requests, which take the one that was used last.

Django has connections for each thread, and the engine gives requests to its threads in turn: the requests of one
client would come to every connection, each with a session in PostgreSQL whose caches other requests have displaced.
Here a thread has a connection until the end of its request. So there are as many as requests that used a database at
the same time, and fewer again once they are too old.

When one is found lost, the others to its database that are idle are closed too: after a failover they lead to the
server that was the primary.

There may be thousands of data stores. Of all connections to them a process keeps a limited number: beyond it, those
that have been idle for longest are closed, and so is each that has been idle for a minute.

The wait for a database that does not answer any more is ended. PostgreSQL limits the time of a statement, and TCP
notices a host that cannot be reached. Neither helps while the host acknowledges packets and the server on it hangs:
because its disk does, because it is suspended, or in a commit that waits for a synchronous standby, which
`statement_timeout` does not limit. Threads would wait until it goes on, although another server may have taken over.
"""

import logging
import os
import socket
import struct
import threading
import time
from collections import OrderedDict, defaultdict, deque
from collections.abc import Callable, Iterator
from contextlib import suppress
from threading import Lock, Thread
from weakref import WeakSet

from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.utils import ConnectionHandler
from psycopg import Connection
from psycopg.pq import TransactionStatus

_INTERVAL = 1.0
# In Linux's `struct tcp_info`: milliseconds since data were last sent, and since data were last received.
_LAST_SENT, _LAST_RECEIVED = 44, 52
_SIZE = 56
_log = logging.getLogger(__name__)
_MOST_SECONDS_IDLE = 60.0


class SilentDatabases:
    """Closes connections on which a statement has been under way for `seconds` without a byte to or from the server.

    Connections by Unix sockets, and those of systems other than Linux, are left alone.
    """

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._watched: WeakSet[BaseDatabaseWrapper] = WeakSet()
        self._lock = Lock()
        self._thread = Thread()

    def watch(self, connection: BaseDatabaseWrapper) -> None:
        """Watch a connection for as long as it exists. The first one in each process starts a thread, which a fork does
        not copy."""
        if not hasattr(socket, "TCP_INFO"):
            return
        with self._lock:
            self._watched.add(connection)
            if not self._thread.is_alive():
                self._thread = Thread(target=self._close_silent, name="silent-databases", daemon=True)
                self._thread.start()

    def _close_silent(self) -> None:
        while True:
            time.sleep(_INTERVAL)
            with self._lock:
                watched = list(self._watched)
            for connection in watched:
                raw = connection.connection
                if raw is not None and _end_if_silent(raw, self._seconds):
                    _log.warning("The database %s does not answer; a connection was closed.", connection.alias)


def _end_if_silent(connection: Connection, seconds: float) -> bool:
    """Shut down a connection on which nothing arrives; the thread that waits for it gets the error of a lost one."""
    pgconn = connection.pgconn
    if pgconn.transaction_status != TransactionStatus.ACTIVE:
        return False
    try:
        # A descriptor of its own: the other thread may close the connection at any time.
        with socket.socket(fileno=os.dup(pgconn.socket)) as duplicate:
            if not _is_silent(duplicate, seconds) or pgconn.transaction_status != TransactionStatus.ACTIVE:
                return False
            duplicate.shutdown(socket.SHUT_RDWR)
    except OSError:  # psycopg's errors of closed connections are others.
        return False
    return True


def _is_silent(connection: socket.socket, seconds: float) -> bool:
    if connection.family == socket.AF_UNIX:
        return False
    info = connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, _SIZE)
    (sent,), (received,) = struct.unpack_from("=I", info, _LAST_SENT), struct.unpack_from("=I", info, _LAST_RECEIVED)
    return bool(min(sent, received) > 1000 * seconds)


class ConnectionPool:
    """The connections of a process to all its databases, by alias. `most_to_others` limits those to databases that are
    not in the settings; as many more are open as are in use. `most_seconds_silent` limits how long a request waits for
    a database that does not answer; 0 is for ever. `count` is called with the alias of such another database and 1 or
    -1 for a connection that was opened or closed."""

    def __init__(
        self,
        handler: ConnectionHandler,
        most_to_others: int,
        most_seconds_silent: float,
        count: Callable[[str, int], None],
    ) -> None:
        self._handler = handler
        self._create = handler.create_connection
        self._idle: defaultdict[str, deque[BaseDatabaseWrapper]] = defaultdict(deque)
        self._in_use = threading.local()
        self._of_settings = frozenset(handler.settings)
        self._others = _Others(most_to_others, count)
        self._silent = SilentDatabases(most_seconds_silent) if most_seconds_silent else None

    def install(self) -> None:
        """Let a thread that has no connection to a database take one of the pool."""
        self._handler.create_connection = self._take  # type: ignore[method-assign]
        # Django's own looks for an event loop at each access, and threads that serve requests have none.
        of_thread = threading.local()
        of_thread.__dict__.update({each.alias: each for each in self._handler.all(initialized_only=True)})
        self._handler._connections = of_thread  # type: ignore[attr-defined]

    def _take(self, alias: str) -> BaseDatabaseWrapper:
        connection = self._others.take(alias) if alias not in self._of_settings else self._take_idle(alias)
        if connection is None:
            connection = self._create(alias)
            connection.inc_thread_sharing()
            if self._silent:
                self._silent.watch(connection)
        else:
            _check(connection)
        self._in_use.__dict__[alias] = connection, connection.connection
        return connection

    def _take_idle(self, alias: str) -> BaseDatabaseWrapper | None:
        try:
            return self._idle[alias].pop()
        except IndexError:
            return None

    def put_back(self) -> None:
        """Put the connections that a thread has taken back into the pool, at the end of its request."""
        in_use = self._in_use.__dict__
        while in_use:
            alias, (connection, session) = in_use.popitem()
            del self._handler[alias]
            self._put_back(connection, session)

    def _put_back(self, connection: BaseDatabaseWrapper, session: Connection | None) -> None:
        """Put back a connection that had this session when it was taken. One that is still in a transaction is not used
        again."""
        alias = connection.alias
        if _was_lost(connection, session):
            self._close_idle(alias)
        if alias not in self._of_settings:
            self._others.put_back(alias, connection)
        elif not connection.in_atomic_block:
            self._idle[alias].append(connection)
            self._close_if_obsolete(self._idle[alias])

    def _close_idle(self, alias: str) -> None:
        if alias not in self._of_settings:
            self._others.close_idle(alias)
            return
        while connection := self._take_idle(alias):
            _close([connection])

    def _close_if_obsolete(self, idle: deque[BaseDatabaseWrapper]) -> None:
        """Close the connection that has been idle for longest, if it is obsolete."""
        try:
            oldest = idle[0]
            if oldest.close_at is not None and time.monotonic() >= oldest.close_at:
                idle.remove(oldest)
                _close([oldest])
        except (IndexError, ValueError):
            pass  # Other threads take connections at the same time.


class _Others:
    """Connections to data stores. A lock guards the order in which they became idle, across all of them."""

    def __init__(self, most: int, count: Callable[[str, int], None]) -> None:
        self._most = most
        self._count = count
        self._counted: set[BaseDatabaseWrapper] = set()
        self._lock = threading.Lock()
        self._busy = 0
        # Those that are idle with the time since when, the one that has been for longest first.
        self._idle: OrderedDict[BaseDatabaseWrapper, float] = OrderedDict()
        self._by_alias: dict[str, list[BaseDatabaseWrapper]] = {}

    def take(self, alias: str) -> BaseDatabaseWrapper | None:
        """Return the connection to this database that was used last; None if a new one has to be made."""
        with self._lock:
            self._busy += 1
            found = self._by_alias[alias][-1] if alias in self._by_alias else None
            if found is not None:
                self._remove(found)
            closed = list(self._remove_surplus())
        self._close(closed)
        return found

    def put_back(self, alias: str, connection: BaseDatabaseWrapper) -> None:
        """Put back a connection that was taken, or made for the request."""
        with self._lock:
            self._busy -= 1
            if connection.connection is not None and not connection.in_atomic_block:
                self._idle[connection] = time.monotonic()
                self._by_alias.setdefault(alias, []).append(connection)
                self._count_as_open(connection)
            else:
                self._count_as_closed(connection)
            closed = list(self._remove_surplus())
        self._close(closed)

    def close_idle(self, alias: str) -> None:
        """Close the idle connections to this database."""
        with self._lock:
            idle = list(self._by_alias.get(alias, ()))
            for connection in idle:
                self._remove(connection)
        self._close(idle)

    def _close(self, connections: list[BaseDatabaseWrapper]) -> None:
        _close(connections)
        with self._lock:
            for connection in connections:
                self._count_as_closed(connection)

    def _count_as_open(self, connection: BaseDatabaseWrapper) -> None:
        if connection not in self._counted:
            self._counted.add(connection)
            self._count(connection.alias, 1)

    def _count_as_closed(self, connection: BaseDatabaseWrapper) -> None:
        if connection in self._counted:
            self._counted.remove(connection)
            self._count(connection.alias, -1)

    def _remove_surplus(self) -> Iterator[BaseDatabaseWrapper]:
        """Remove and yield the idle connections to close: those beyond the limit, and those idle for too long."""
        late = time.monotonic() - _MOST_SECONDS_IDLE
        while self._idle:
            oldest, since = next(iter(self._idle.items()))
            if since > late and self._busy + len(self._idle) <= self._most:
                return
            self._remove(oldest)
            yield oldest

    def _remove(self, connection: BaseDatabaseWrapper) -> None:
        del self._idle[connection]
        of_alias = self._by_alias[connection.alias]
        of_alias.remove(connection)
        if not of_alias:
            del self._by_alias[connection.alias]


def _check(connection: BaseDatabaseWrapper) -> None:
    """Do what Django does at the beginning of a request, which mostly finds nothing to do."""
    is_obsolete = connection.close_at is not None and time.monotonic() >= connection.close_at
    if is_obsolete or connection.errors_occurred or connection.in_atomic_block or not connection.autocommit:
        connection.close_if_unusable_or_obsolete()
    else:
        connection.health_check_done = False  # type: ignore[attr-defined]


def _was_lost(connection: BaseDatabaseWrapper, session: Connection | None) -> bool:
    """Return whether the session that the connection had when it was taken has ended."""
    return session is not None and (connection.connection is not session or session.closed)


def _close(connections: list[BaseDatabaseWrapper]) -> None:
    for connection in connections:
        with suppress(Exception):  # The server may have closed it.
            connection.close()
