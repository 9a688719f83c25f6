"""gunicorn's worker with threads, made quick with busy clients, and patient with none.

gunicorn's own hands each connection back to its main thread after each request, which hands it to another thread when
the next one comes; and it lets idle clients hold up a stop for graceful_timeout.

A client that connects and says nothing, as browsers do on suspicion, has a thread for five seconds, and one that sends
half the head of a request has one until it sends the rest. As many clients as a worker may have connections, saying
nothing, keep all others out until it loses patience with them. And the main
thread waits, two seconds for each connection that it closes, for a client that does not close its side. Of clients that
stop midway, see `deadline_socket`; of those that all come to one worker, see `worker_load`.

Nor does it do well by a client whose request was refused before its body was read. What came with the rest of that
body, the next request maybe, it would keep without looking at it before something else came; and after 64 kB of such a
body it would close the connection without having said so.
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

# For how many seconds a thread waits for the next request of the connection it has just answered.
_LINGER = 0.002
# For how long a client that is still sending may take notice that it was answered.
_LEAVE_SECONDS = 2
# Of a head that is incomplete: each of a worker's connections may have one.
_MOST_HELD_BYTES = 32 * 1024
# For how long a worker leaves a new connection to those that have fewer.
_COURTESY = 0.001


class KeepaliveWorker(ThreadWorker):
    """See the module. Where gunicorn itself speaks TLS, with a socket of another kind, it does all in its own way."""

    request_seconds: int
    # In `worker_load`; allocated before the fork.
    slot: int

    def accept(self, listener: socket) -> None:
        if not worker_load.is_least_loaded(self.nr_conns):
            time.sleep(_COURTESY)
        super().accept(listener)

    def get_thread_pool(self) -> "_ThreadPool":
        return _ThreadPool(max_workers=self.cfg.threads)

    def wait_for_and_dispatch_events(self, timeout: float) -> None:
        super().wait_for_and_dispatch_events(timeout)
        if self.nr_conns >= self.worker_connections:
            self._make_room()
        if self.alive:
            worker_load.publish(self.slot, self.nr_conns)
        else:  # It takes no more.
            worker_load.release(self.slot)

    def _make_room(self) -> None:
        """Who has been silent for longest gives way."""
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
            # What says nothing at once goes to the poller.
            conn.wait_for_data = partial(_wait_shortly, conn.wait_for_data)
        is_kept = self._handle_in_time(conn)
        while is_kept is True and self._is_next_near(conn):
            is_kept = self._handle_in_time(conn)
        if is_kept is False:
            _take_leave(conn)
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
        """Whether the next request is there, or comes while none waits for a thread that waits for its client. One that
        comes then waits for `_LINGER`."""
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
        # Who has run out of time has sent nothing more, which is not the end.
        conn.is_whole = is_read and not conn.sock.is_over
        return keepalive and conn.is_whole

    def handle_exit(self, number: int, frame: FrameType | None) -> None:
        super().handle_exit(number, frame)
        self.method_queue.defer(self.close_idle_connections)

    def close_idle_connections(self) -> None:
        """After this round of events, in which some of them may be about to be looked at."""
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
    """What has been taken from the socket already of the next request."""
    return conn.parser.unreader.buf.getvalue() if conn.parser else b""


def _take_leave(conn: TConn) -> None:
    """If more may come, it is read for a while: a connection closed on it would take the answer with it."""
    if not conn.is_whole and not conn.sock.is_over:
        conn.sock.deadline = time.monotonic() + _LEAVE_SECONDS
        with suppress(OSError):
            conn.sock.shutdown(SHUT_WR)
            while conn.sock.recv(65536):
                pass
    conn.sock.is_over = True
