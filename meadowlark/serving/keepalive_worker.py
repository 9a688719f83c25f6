"""gunicorn's threaded worker, changed to keep hot keep-alive connections on their thread and to enforce deadlines.

What gthread does, and what is done here instead:

* It returns a connection to its main thread after each request, which dispatches it to another thread for the next one.
  Here the thread first waits a moment for the next request of the same connection.
* On a stop it waits for idle connections until graceful_timeout. Here they are closed at once.
* A client that connects without sending, as browsers do speculatively, occupies a thread for five seconds, and one that
  sends half the head of a request occupies one until the rest arrives. Here both wait in the poller, without a thread.
* Silent connections up to the limit of a worker block new ones until they time out. Here the one that has been silent
  longest is closed in favour of a new one.
* Its main thread waits up to two seconds, on closing a connection, for a client that does not close its side. Here the
  thread of the request does.
* After a request that was refused before its body was read, it keeps what arrived with the rest of that body, possibly
  the next request, unparsed until more data arrives; and after 64 kB of such a body it closes the connection without
  `Connection: close`. Here the body is read up to the size limit and the next request is handled.

Deadlines for clients that stop midway are in `deadline_socket`; balancing between workers is in `worker_load`.
"""

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from operator import attrgetter
from socket import SHUT_WR, socket
from types import FrameType

from gunicorn.http.errors import LimitRequestHeaders
from gunicorn.http.message import Request
from gunicorn.workers.gthread import _DEFER, DEFAULT_WORKER_DATA_TIMEOUT, TConn, ThreadWorker

from edfi_api.conf import api_settings
from meadowlark.serving import worker_load
from meadowlark.serving.chunked_body import MalformedBody
from meadowlark.serving.deadline_socket import DeadlineSocket

# Seconds for which a thread waits for the next request of the connection that it has just answered.
_LINGER = 0.002
# Seconds granted to a client that is still sending to read its answer.
_LEAVE_SECONDS = 2
# Of a head that is incomplete: each of a worker's connections may have one.
_MOST_HELD_BYTES = 32 * 1024
# Seconds for which a worker leaves a new connection to workers that have fewer.
_ACCEPT_DELAY = 0.001


class KeepaliveWorker(ThreadWorker):
    """See the module. Where gunicorn terminates TLS, with sockets of another class, gthread's behaviour stays."""

    request_seconds: int
    # In `worker_load`; allocated before the fork.
    slot: int

    def accept(self, listener: socket) -> None:
        if not worker_load.is_least_loaded(self.nr_conns):
            time.sleep(_ACCEPT_DELAY)
        super().accept(listener)

    def get_thread_pool(self) -> "_ThreadPool":
        return _ThreadPool(max_workers=self.cfg.threads)

    def wait_for_and_dispatch_events(self, timeout: float) -> None:
        super().wait_for_and_dispatch_events(timeout)
        if self.nr_conns >= self.worker_connections:
            self._make_room()
        if self.alive:
            worker_load.publish(self.slot, self.nr_conns)
        else:  # A stopping worker accepts no more connections.
            worker_load.release(self.slot)

    def _make_room(self) -> None:
        """Close the connection that has been silent longest."""
        longest = [connections[0] for connections in (self.pending_conns, self.keepalived_conns) if connections]
        if longest:
            min(longest, key=attrgetter("timeout")).timeout = 0
            self.murder_pending()
            self.murder_keepalived()

    def handle(self, conn: TConn) -> object:
        if self.cfg.is_ssl:
            return super().handle(conn)
        if not isinstance(conn.sock, DeadlineSocket):
            conn.sock = DeadlineSocket.replacing(conn.sock)
            conn.sock.send_seconds = self.request_seconds
            # A connection without immediate data goes to the poller.
            conn.wait_for_data = partial(_wait_shortly, conn.wait_for_data)
        is_kept = self._handle_in_time(conn)
        while is_kept is True and self._is_next_near(conn):
            is_kept = self._handle_in_time(conn)
        if is_kept is False:
            _drain(conn)
        return is_kept

    def _handle_in_time(self, conn: TConn) -> object:
        conn.is_whole = False
        if not conn.sock.is_head_late:
            conn.sock.deadline = time.monotonic() + self.request_seconds
        conn.sock.is_head_late = False
        # A worker that stops gives nothing back to the poller, so there a thread waits for the whole head.
        conn.sock.head = bytearray(_read_ahead(conn)) if self.alive else None
        is_kept = super().handle(conn)
        return self._postpone(conn) if conn.sock.is_head_late else is_kept

    def _postpone(self, conn: TConn) -> object:
        """Until more of the head has come, which is then parsed from its beginning."""
        head, conn.sock.head = bytes(conn.sock.head), None
        if len(head) > _MOST_HELD_BYTES:
            self.handle_error(None, conn.sock, conn.client, LimitRequestHeaders("the head is too long to wait for"))
            return False
        conn.parser.unreader.unread(head)
        return _DEFER if self.alive else self._handle_in_time(conn)

    def handle_request(self, req: Request, conn: TConn) -> bool:
        """The head is complete; for the body a thread waits."""
        if not self.cfg.is_ssl:
            conn.sock.head = None
        return super().handle_request(req, conn)

    def _is_next_near(self, conn: TConn) -> bool:
        """Whether the next request has arrived, or arrives within `_LINGER` while no other request is queued for a
        thread. A request that is queued during the wait is delayed by at most `_LINGER`."""
        if _read_ahead(conn):
            return True
        return self.alive and not self.tpool.is_waited_for and conn.sock.is_readable_within(_LINGER)

    def _keepalive_after(self, conn: TConn, keepalive: bool) -> bool:
        if self.cfg.is_ssl:
            return super()._keepalive_after(conn, keepalive)
        conn.sock.deadline = time.monotonic() + DEFAULT_WORKER_DATA_TIMEOUT
        is_read = False
        with suppress(MalformedBody):
            is_read = conn.parser.finish_body(max_bytes=api_settings.MAX_BODY_BYTES + 1)
        # At the deadline `recv` reports an end that is not the end of the body.
        conn.is_whole = is_read and not conn.sock.is_over
        return keepalive and conn.is_whole

    def handle_exit(self, number: int, frame: FrameType | None) -> None:
        super().handle_exit(number, frame)
        self.method_queue.defer(self.close_idle_connections)

    def close_idle_connections(self) -> None:
        """Called between two rounds of events, since some of them may have events in the current one."""
        for connection in (*self.keepalived_conns, *self.pending_conns):
            if not getattr(connection.sock, "is_head_late", False):
                connection.timeout = 0


class _ThreadPool(ThreadPoolExecutor):
    @property
    def is_waited_for(self) -> bool:
        return not self._work_queue.empty()


def _wait_shortly(wait: Callable[[float], bool], _: float) -> bool:
    return wait(_LINGER)


def _read_ahead(conn: TConn) -> bytes:
    """The part of the next request that has been read from the socket already."""
    return conn.parser.unreader.buf.getvalue() if conn.parser else b""


def _drain(conn: TConn) -> None:
    """Discard what the client is still sending, for a while: closing a socket with unread data resets the connection,
    and the client would lose the answer."""
    if not conn.is_whole and not conn.sock.is_over:
        conn.sock.deadline = time.monotonic() + _LEAVE_SECONDS
        with suppress(OSError):
            conn.sock.shutdown(SHUT_WR)
            while conn.sock.recv(65536):
                pass
    conn.sock.is_over = True
