"""A client socket with a deadline for reading and a timeout for writing.

gunicorn's threads wait without limit for the rest of a request: as many clients as there are threads, lost in the
middle of a request or malicious, block the server. So does a client that does not read its answer, if that is larger
than the system's buffers.
"""

import errno
import math
import os
import select
import time
from contextlib import suppress
from socket import MSG_DONTWAIT, socket
from typing import Self

# A plain int, because combining IntFlags takes longer than sending a small answer.
_AT_ONCE = int(MSG_DONTWAIT)


class DeadlineSocket(socket):
    """At `deadline`, on the clock of `time.monotonic`, reading reports the end of the stream.

    Writing raises ConnectionResetError when the client has not made room within `send_seconds`: a third of the system's
    send buffer, which has at most some megabytes. A client that reads more slowly counts as one that does not read.
    """

    deadline = math.inf
    send_seconds: float | None = None
    is_over = False
    # While the head of a request is read: what has come of it. `recv` does not wait then.
    head: bytearray | None = None
    # The head is incomplete, and its deadline has not passed.
    is_head_late = False

    @classmethod
    def replacing(cls, other: socket) -> Self:
        """Takes over the file descriptor of `other`, which is unusable afterwards."""
        ours = cls(fileno=other.detach())
        socket.setblocking(ours, True)  # The constructor assumes this mode without setting it.
        return ours

    def settimeout(self, seconds: float | None) -> None:
        """Skips the system call, which releases the GIL, if nothing changes."""
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
        """The error of a connection that the client has reset."""
        self.is_over = True
        return ConnectionResetError(errno.ECONNRESET, os.strerror(errno.ECONNRESET))
