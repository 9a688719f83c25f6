"""Lends database connections to requests, those that were used last first.

Django has connections for each thread, and the engine gives requests to its threads in turn: the requests of one client
would come to every connection, each with a session in PostgreSQL whose caches other requests have displaced. Here a
thread has a connection until the end of its request. So there are as many as requests that used a database at the same
time, and fewer again once they are too old.
"""

import threading
import time
from collections import defaultdict, deque
from contextlib import suppress

from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.utils import ConnectionHandler


class LentConnections:
    """Those of a process to all its databases, by alias."""

    def __init__(self, handler: ConnectionHandler) -> None:
        self._handler = handler
        self._create = handler.create_connection
        self._idle: defaultdict[str, deque[BaseDatabaseWrapper]] = defaultdict(deque)
        self._lent = threading.local()

    def install(self) -> None:
        """A thread that has no connection to a database is lent one."""
        self._handler.create_connection = self._lend  # type: ignore[method-assign]

    def _lend(self, alias: str) -> BaseDatabaseWrapper:
        try:
            connection = self._idle[alias].pop()
        except IndexError:
            connection = self._create(alias)
            connection.inc_thread_sharing()
        else:
            connection.close_if_unusable_or_obsolete()  # As Django does at the beginning of a request.
        self._lent.__dict__[alias] = connection
        return connection

    def take_back(self) -> None:
        """At the end of a request, in its thread. A connection that is still in a transaction is not used again."""
        lent = self._lent.__dict__
        for alias, connection in lent.items():
            del self._handler[alias]
            if not connection.in_atomic_block:
                self._idle[alias].append(connection)
                self._close_if_obsolete(self._idle[alias])
        lent.clear()

    def _close_if_obsolete(self, idle: deque[BaseDatabaseWrapper]) -> None:
        """Of those that are idle, the one that has been for longest."""
        with suppress(IndexError, ValueError):  # Other threads take connections at the same time.
            oldest = idle[0]
            if oldest.close_at is not None and time.monotonic() >= oldest.close_at:
                idle.remove(oldest)
                oldest.close()
