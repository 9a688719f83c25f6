"""A connection to a client that is waited for only so long.

gunicorn waits without end, with a thread, for the rest of a request: as many clients as there are threads, gone in the
middle of one or meaning harm, and nobody is answered any more. A client that does not read its answer, if that is
larger than the system's buffers, has a thread for ever, too.
"""

import errno
import math
import os
import select
import time
from contextlib import suppress
from socket import MSG_DONTWAIT, socket
from typing import Self

# As a plain number: an IntFlag takes longer to combine than a small answer takes to send.
_AT_ONCE = int(MSG_DONTWAIT)


class DeadlineSocket(socket):
    """What has not come by the deadline is not waited for: as if the client had ended.
    Nor is a client that makes no room for more of its answer within `send_seconds`: a third of the system's buffer,
    which has some megabytes at most. Who reads more slowly than that is taken for one who does not read."""

    deadline = math.inf
    send_seconds: float | None = None
    is_over = False
    # While the head of a request is read: what has come of it. `recv` does not wait then.
    head: bytearray | None = None
    # The head is incomplete, and its deadline has not passed.
    is_head_late = False

    @classmethod
    def replacing(cls, other: socket) -> Self:
        ours = cls(fileno=other.detach())
        socket.setblocking(ours, True)  # As it believes to be.
        return ours

    def settimeout(self, seconds: float | None) -> None:
        """Only if it is another one: each time it would be a call of the system, and another thread's turn."""
        if seconds != self.gettimeout():
            super().settimeout(seconds)

    def setblocking(self, is_blocking: bool) -> None:
        self.settimeout(None if is_blocking else 0)

    def recv(self, size: int, flags: int = 0) -> bytes:
        if self.is_over:
            return b""
        if self.head is not None:
            return self._recv_head(size, flags)
        timeout = self.gettimeout()
        if timeout is None:
            with suppress(BlockingIOError):
                return super().recv(size, flags | _AT_ONCE)
        left = self.deadline - time.monotonic()
        if timeout is None or timeout > left:
            self.is_over = not self.is_readable_within(left)
        return b"" if self.is_over else super().recv(size, flags)

    def _recv_head(self, size: int, flags: int) -> bytes:
        """What is there; if nothing is, an empty result, which the parser takes for the end of the connection."""
        try:
            part = super().recv(size, flags | _AT_ONCE)
        except BlockingIOError:
            self.is_over = time.monotonic() >= self.deadline
            self.is_head_late = not self.is_over
            return b""
        self.head += part
        return part

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
