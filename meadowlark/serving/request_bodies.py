"""Reading the bodies of requests before a thread handles them, within limits of time and memory.

A client that sends its body slowly, or stops midway, occupies no thread: the engine completes a future when something
has arrived, and `RequestBodies.expire` cancels the futures of bodies whose time is over.
"""

import time
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from enum import Enum, auto
from io import BytesIO
from tempfile import SpooledTemporaryFile
from threading import Lock
from typing import IO

from edfi_api.common.memory import SMALL, cost_of_json, process_memory
from meadowlark.serving.rsgi import HTTPProtocol, Pending

# Bodies up to this size are always read; what is longer is counted. So the memory of a worker is bounded, and clients
# that send large bodies slowly cannot keep ordinary documents out.
_SMALL = 16 * 1024
_MOST_HELD = 16 * 2**20
# Of a body that is read into a file.
_MOST_IN_MEMORY = 2**20
# Each chunk costs about 15 microseconds of processor time, however small it is.
_MOST_CHUNKS = 50_000


class Unread(Enum):
    """Why there is no body."""

    INCOMPLETE = auto()  # It ended early, or its chunks are malformed.
    LATE = auto()
    NO_ROOM = auto()


# In memory, or in a file for those that may be large.
Body = bytes | IO[bytes]
# Called with the body, and with what is to be called when it is no longer in memory.
Finish = Callable[[Body | Unread, Callable[[], None]], None]


def memory_for(body: Body | Unread) -> AbstractContextManager[int]:
    """The share of the memory for large requests that a body takes while it is worked on. Those in a file are
    decoded in parts, whose receiver takes a share. Raises MemoryExhausted."""
    if isinstance(body, bytes) and len(body) > _SMALL and (cost := cost_of_json(body)) > SMALL:
        return process_memory().reserve(cost)
    return nullcontext(0)


class RequestBodies:
    """The limits for the bodies of one worker, and the bodies that it awaits. `limit` is in bytes."""

    def __init__(self, limit: int, seconds: float) -> None:
        self.limit = limit
        self.seconds = seconds
        self.waiting: set[RequestBody] = set()
        self._held = 0
        self._lock = Lock()

    def read(self, protocol: HTTPProtocol, length: int | None, finish: Finish) -> None:
        """Call `finish` with the body, possibly later and in another thread. `length` is None for a chunked body.

        A body that is longer than the limit is read to its end, since a client that is still sending when its
        connection is closed loses the answer; but only the limit and one byte are kept.
        """
        if length is None or length > self.limit:
            _ChunkedBody(self, finish).read(protocol)
        else:
            _WholeBody(self, finish).read(protocol, length)

    def read_into_file(self, protocol: HTTPProtocol, length: int | None, limit: int, finish: Finish) -> None:
        """Read a body as `read` does, with another limit; a long one into a file, of which little is in memory."""
        if length is None or length > min(limit, _SMALL):
            _BodyInFile(self, limit, finish).read(protocol)
        else:
            _WholeBody(self, finish).read(protocol, length)

    def expire(self) -> None:
        """End the bodies whose time is over."""
        now = time.monotonic()
        for body in list(self.waiting):
            body.expire(now)

    def reserve(self, size: int) -> bool:
        """Return whether so many more bytes may be held."""
        with self._lock:
            if self._held + size > _MOST_HELD:
                return False
            self._held += size
            return True

    def release(self, size: int) -> None:
        with self._lock:
            self._held -= size


class RequestBody:
    """A body that is being read."""

    def __init__(self, bodies: RequestBodies, finish: Finish) -> None:
        self._bodies = bodies
        self._finish = finish
        self._deadline = time.monotonic() + bodies.seconds
        self._reserved = 0
        self._pending: Pending | None = None

    def expire(self, now: float) -> None:
        if self._deadline <= now and (pending := self._pending):
            pending.cancel()

    def _wait(self, pending: Pending, continuation: Callable[[Pending], None]) -> None:
        """The future keeps its callback for ever, so a continuation must give up `_pending`, or neither is freed."""
        self._pending = pending
        self._bodies.waiting.add(self)
        pending.add_done_callback(continuation)

    def _reserve(self, size: int) -> bool:
        missing = size - self._reserved
        if size <= _SMALL or missing <= 0:
            return True
        if self._bodies.reserve(missing):
            self._reserved = size
            return True
        return False

    def _end(self, outcome: Body | Unread) -> None:
        self._bodies.waiting.discard(self)
        self._finish(outcome, self._release)

    def _release(self) -> None:
        if self._reserved:
            self._bodies.release(self._reserved)


class _WholeBody(RequestBody):
    """A body of a known length within the limit."""

    def read(self, protocol: HTTPProtocol, length: int) -> None:
        if self._reserve(length):
            self._wait(protocol(), self._receive)
        else:
            self._end(Unread.NO_ROOM)

    def _receive(self, pending: Pending) -> None:
        self._pending = None
        if pending.cancelled():
            return self._end(Unread.LATE)
        outcome: bytes | Unread
        try:
            outcome = pending.result()
        except Exception as error:  # Of several classes, all for a connection that has ended.
            error.__traceback__ = None  # The future keeps the error, which would keep this frame, and that the future.
            outcome = Unread.INCOMPLETE
        return self._end(outcome)


class _ChunkedBody(RequestBody):
    """A body of unknown length, or longer than the limit."""

    def __init__(self, bodies: RequestBodies, finish: Finish) -> None:
        super().__init__(bodies, finish)
        self._limit = bodies.limit
        self._kept: IO[bytes] = BytesIO()
        self._chunks = 0
        self._empty_chunks = 0

    def read(self, protocol: HTTPProtocol) -> None:
        self._stream = aiter(protocol)
        self._continue()

    def _continue(self, pending: Pending | None = None) -> None:
        """Take what has arrived, beginning with the result of `pending`, and wait for the rest."""
        self._pending = None
        while True:
            if pending is not None and (problem := self._take(pending)):
                return self._end(problem)
            try:
                pending = anext(self._stream)
            except StopAsyncIteration:
                # The end is one empty chunk. Trailers, and an error in the chunks, come as another one before it.
                return self._end(Unread.INCOMPLETE if self._empty_chunks > 1 else self._whole())
            if not pending.done():
                return self._wait(pending, self._continue)

    def _take(self, pending: Pending) -> Unread | None:
        if pending.cancelled():
            return Unread.LATE
        chunk = pending.result()
        self._chunks += 1
        self._empty_chunks += not chunk
        if self._chunks > _MOST_CHUNKS:
            return Unread.INCOMPLETE
        self._kept.write(chunk[: self._limit + 1 - self._kept.tell()])
        return None if self._reserve(self._in_memory()) else Unread.NO_ROOM

    def _in_memory(self) -> int:
        """Return how much of what is kept is in memory, in bytes."""
        return self._kept.tell()

    def _whole(self) -> Body:
        self._kept.seek(0)
        return self._kept.read()


class _BodyInFile(_ChunkedBody):
    """A body in a file, which the receiver closes."""

    def __init__(self, bodies: RequestBodies, limit: int, finish: Finish) -> None:
        super().__init__(bodies, finish)
        self._limit = limit
        self._kept = SpooledTemporaryFile(_MOST_IN_MEMORY)  # noqa: SIM115

    def _in_memory(self) -> int:
        return min(self._kept.tell(), _MOST_IN_MEMORY)

    def _whole(self) -> Body:
        self._kept.seek(0)
        return self._kept
