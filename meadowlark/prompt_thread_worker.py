"""gunicorn's worker with threads, made quick with busy clients, and patient with none.

gunicorn's own hands each connection back to its main thread after each request, which hands it to another thread when
the next one comes; and it lets idle clients hold up a stop for graceful_timeout.

It waits without end, with a thread, for the rest of a request: as many clients as there are threads, gone in the middle
of one or meaning harm, and nobody is answered any more. A client that connects and says nothing, as browsers do on
suspicion, has a thread for five seconds. A client that does not read its answer, if that is larger than the system's
buffers, has one for ever. And the main thread waits, two seconds for each connection that it closes, for a client that
does not close its side.

As many clients as a worker may have connections, saying nothing, keep all others out until it loses patience with them.

Nor does it do well by a client whose request was refused before its body was read. What came with the rest of that
body, the next request maybe, it would keep without looking at it before something else came; and after 64 kB of such a
body it would close the connection without having said so.
"""

import errno
import math
import os
import select
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from operator import attrgetter
from socket import MSG_DONTWAIT, SHUT_WR, socket
from types import FrameType
from typing import IO, Self

from gunicorn.http.message import Request
from gunicorn.workers.gthread import DEFAULT_WORKER_DATA_TIMEOUT, TConn, ThreadWorker

from edfi_api.conf import api_settings

# For how many seconds a thread waits for the next request of the connection it has just answered.
_LINGER = 0.002
# For how long a client that is still sending may take notice that it was answered.
_LEAVE_SECONDS = 2
# As a plain number: an IntFlag takes longer to combine than a small answer takes to send.
_AT_ONCE = int(MSG_DONTWAIT)


class PatientSocket(socket):
    """A connection to a client. What has not come by its deadline is not waited for: as if the client had ended.
    Nor is a client that makes no room for more of its answer within `send_seconds`: a third of the system's buffer,
    which has some megabytes at most. Who reads more slowly than that is taken for one who does not read."""

    deadline = math.inf
    send_seconds: float | None = None
    is_over = False

    @classmethod
    def instead_of(cls, other: socket) -> Self:
        patient = cls(fileno=other.detach())
        socket.setblocking(patient, True)  # As it believes to be.
        return patient

    def settimeout(self, seconds: float | None) -> None:
        """Only if it is another one: each time it would be a call of the system, and another thread's turn."""
        if seconds != self.gettimeout():
            super().settimeout(seconds)

    def setblocking(self, is_blocking: bool) -> None:
        self.settimeout(None if is_blocking else 0)

    def recv(self, size: int, flags: int = 0) -> bytes:
        if self.is_over:
            return b""
        timeout = self.gettimeout()
        if timeout is None:
            with suppress(BlockingIOError):
                return super().recv(size, flags | _AT_ONCE)
        left = self.deadline - time.monotonic()
        if timeout is None or timeout > left:
            self.is_over = not self.is_readable_within(left)
        return b"" if self.is_over else super().recv(size, flags)

    def sendall(self, data: bytes, flags: int = 0) -> None:
        if self.gettimeout() is not None:
            return super().sendall(data, flags)
        sent = 0
        while sent < len(data):
            try:
                sent += super().send(memoryview(data)[sent:] if sent else data, flags | _AT_ONCE)
            except BlockingIOError:
                if self.send_seconds is not None and not self._is_ready(select.POLLOUT, self.send_seconds):
                    raise self._given_up() from None
        return None

    def sendfile(self, file: IO[bytes], offset: int = 0, count: int | None = None) -> int:
        """With a timeout the standard library's waits so long for each piece, not for the whole."""
        self.settimeout(self.send_seconds)
        try:
            return super().sendfile(file, offset, count)
        except TimeoutError:
            raise self._given_up() from None
        finally:
            self.settimeout(None)

    def is_readable_within(self, seconds: float) -> bool:
        return self._is_ready(select.POLLIN, seconds)

    def _is_ready(self, event: int, seconds: float) -> bool:
        waiting = select.poll()
        waiting.register(self, event)
        return bool(waiting.poll(max(0, seconds) * 1000 if math.isfinite(seconds) else None))

    def _given_up(self) -> OSError:
        """As if the client had gone."""
        self.is_over = True
        return ConnectionResetError(errno.ECONNRESET, os.strerror(errno.ECONNRESET))


class PromptThreadWorker(ThreadWorker):
    """See the module. Where gunicorn itself speaks TLS, with a socket of another kind, it does all in its own way."""

    request_seconds: int

    def get_thread_pool(self) -> "_ThreadPool":
        return _ThreadPool(max_workers=self.cfg.threads)

    def wait_for_and_dispatch_events(self, timeout: float) -> None:
        super().wait_for_and_dispatch_events(timeout)
        if self.nr_conns >= self.worker_connections:
            self._make_room()

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
        if not isinstance(conn.sock, PatientSocket):
            conn.sock = PatientSocket.instead_of(conn.sock)
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
        conn.sock.deadline = time.monotonic() + self.request_seconds
        return super().handle(conn)

    def _is_next_near(self, conn: TConn) -> bool:
        """Whether the next request is there, or comes while none waits for a thread that waits for its client. One that
        comes then waits for `_LINGER`."""
        if _is_read_ahead(conn):
            return True
        return self.alive and not self.tpool.is_waited_for and conn.sock.is_readable_within(_LINGER)

    def handle_request(self, req: Request, conn: TConn) -> bool:
        is_kept = super().handle_request(req, conn)
        if self.cfg.is_ssl:
            return is_kept
        conn.sock.deadline = time.monotonic() + DEFAULT_WORKER_DATA_TIMEOUT
        is_read = conn.parser.finish_body(max_bytes=api_settings.MAX_BODY_BYTES + 1)
        # Who has run out of time has sent nothing more, which is not the end.
        conn.is_whole = is_read and not conn.sock.is_over
        return is_kept and conn.is_whole

    def _keepalive_after(self, conn: TConn, keepalive: bool) -> bool:
        """What gunicorn would do now, `handle_request` has done."""
        return super()._keepalive_after(conn, keepalive) if self.cfg.is_ssl else keepalive

    def handle_exit(self, number: int, frame: FrameType | None) -> None:
        super().handle_exit(number, frame)
        self.method_queue.defer(self.close_idle_connections)

    def close_idle_connections(self) -> None:
        for connection in (*self.keepalived_conns, *self.pending_conns):
            connection.timeout = 0
        self.murder_keepalived()
        self.murder_pending()


class _ThreadPool(ThreadPoolExecutor):
    @property
    def is_waited_for(self) -> bool:
        return not self._work_queue.empty()


def _wait_shortly(wait: Callable[[float], bool], _: float) -> bool:
    return wait(_LINGER)


def _is_read_ahead(conn: TConn) -> bool:
    """Whether the next request has been taken from the socket already, at least its beginning."""
    return conn.parser.unreader.buf.getbuffer().nbytes > 0


def _take_leave(conn: TConn) -> None:
    """If more may come, it is read for a while: a connection closed on it would take the answer with it."""
    if not conn.is_whole and not conn.sock.is_over:
        conn.sock.deadline = time.monotonic() + _LEAVE_SECONDS
        with suppress(OSError):
            conn.sock.shutdown(SHUT_WR)
            while conn.sock.recv(65536):
                pass
    conn.sock.is_over = True
