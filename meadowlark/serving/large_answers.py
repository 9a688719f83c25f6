"""Sending answers that are too large to be handed to the engine at once.

The engine keeps what it is given until the client has taken it, whatever its size. From a file it reads only as fast as
the client does. So it is given the reading end of a pipe, and a thread that handles no requests writes to the other
end: a client that reads slowly holds neither memory nor a thread that handles requests.

There are few such threads. So a client that takes less than a minimum is disconnected, and the memory of the answers
that wait for a thread is limited.
"""

import os
import select
import time
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from threading import Lock

from edfi_api.web.prepared_requests import LARGEST_ANSWER
from meadowlark.serving.rsgi import Fields, HTTPProtocol

# In bytes; more than a pipe holds. Answers up to this size are handed over at once.
LARGE = LARGEST_ANSWER
# Bytes per second that a client has to take on average: half a megabit, which even a poor line has. At this rate the
# longest answer in memory, of 2 MB, holds its thread for about half a minute.
LEAST_RATE = 64 * 1024
# In memory, by answers that wait; as much as for bodies that arrive.
_MOST_WAITING = 48 * 2**20


class Senders:
    """The threads that send large answers, and the answers that wait for one of them."""

    def __init__(self, threads: ThreadPoolExecutor) -> None:
        self._threads = threads
        self._waiting = 0
        self._lock = Lock()

    def submit(self, size: int, send: Callable[[], None], *, is_refusable: bool) -> bool:
        """Send an answer that has so many bytes in memory. False if too many wait, and this one need not be sent."""
        with self._lock:
            if is_refusable and self._waiting + size > _MOST_WAITING:
                return False
            self._waiting += size
        self._threads.submit(self._begin, size, send)
        return True

    def _begin(self, size: int, send: Callable[[], None]) -> None:
        with self._lock:
            self._waiting -= size
        send()


def send(protocol: HTTPProtocol, status: int, headers: Fields, blocks: Iterable[bytes], seconds: float) -> int:
    """The number of bytes, when the engine has taken nearly all of them. The blocks are more than LARGE together.

    Raises BrokenPipeError when the client has gone, and TimeoutError when it has taken nothing for so many seconds, or
    over all less than LEAST_RATE after as many seconds. Only the time in which the client is waited for counts, not
    that in which blocks are made. The connection is then closed before the end of the answer, which its Content-Length
    shows; a batch that is streamed has none, and lacks its summary.
    """
    reader, writer = os.pipe()
    try:
        os.set_blocking(writer, False)
        # The engine opens the reading end itself, and closes it when the client has gone.
        protocol.response_file(status, headers, f"/dev/fd/{reader}")
        pipe = _Pipe(writer, seconds)
        written = 0
        for block in blocks:
            written += len(block)
            pipe.write(block)
            if written > LARGE and reader:  # More than the pipe holds, so the engine has opened it.
                os.close(reader)
                reader = 0
        return written
    finally:
        os.close(writer)
        if reader:
            os.close(reader)


class _Pipe:
    """The writing end of a pipe whose reader is waited for."""

    def __init__(self, writer: int, seconds: float) -> None:
        self._writer = writer
        self._seconds = seconds
        # For which it may still be waited for; grows with what it takes.
        self._left = seconds
        self._space = select.poll()
        self._space.register(writer, select.POLLOUT)

    def write(self, block: bytes) -> None:
        rest = memoryview(block)
        while rest:
            try:
                taken = os.write(self._writer, rest)
            except BlockingIOError:
                self._wait()
            else:
                self._left += taken / LEAST_RATE
                rest = rest[taken:]

    def _wait(self) -> None:
        begin = time.monotonic()
        has_space = self._space.poll(1000 * min(self._seconds, self._left))
        self._left -= time.monotonic() - begin
        if not has_space or self._left < 0:
            raise TimeoutError
