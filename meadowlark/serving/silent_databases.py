"""Ends the wait for a database that does not answer any more.

PostgreSQL limits the time of a statement, and TCP notices a host that cannot be reached. Neither helps while the host
acknowledges packets and the server on it hangs: because its disk does, because it is suspended, or in a commit that
waits for a synchronous standby, which `statement_timeout` does not limit. Threads would wait until it goes on, although
another server may have taken over.
"""

import logging
import os
import socket
import struct
import time
from threading import Lock, Thread
from weakref import WeakSet

from django.db.backends.base.base import BaseDatabaseWrapper
from psycopg import Connection
from psycopg.pq import TransactionStatus

_INTERVAL = 1.0
# In Linux's `struct tcp_info`: milliseconds since data were last sent, and since data were last received.
_LAST_SENT, _LAST_RECEIVED = 44, 52
_SIZE = 56

_log = logging.getLogger(__name__)


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
                self._thread = Thread(target=self._look_after, name="silent-databases", daemon=True)
                self._thread.start()

    def _look_after(self) -> None:
        while True:
            time.sleep(_INTERVAL)
            with self._lock:
                watched = list(self._watched)
            for connection in watched:
                raw = connection.connection
                if raw is not None and _end_if_silent(raw, self._seconds):
                    _log.warning("The database %s does not answer; a connection was closed.", connection.alias)


def _end_if_silent(connection: Connection, seconds: float) -> bool:
    """The thread that waits on it gets the error of a lost connection."""
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
