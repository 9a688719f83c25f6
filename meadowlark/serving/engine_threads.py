"""The engine's threads, as they call Python: all but a few are held back until they are needed.

The engine gives work to the thread that has waited longest, so the requests of one client, and the two parts of a
request with a body, would run in each thread in turn, with cold caches. A thread that is held back keeps the head of
its last request in memory.
"""

import logging
from collections.abc import Callable
from threading import Lock, local

_log = logging.getLogger("meadowlark.serving")

# Threads that wait for work in the engine. With one alone, each request would have to wake a successor.
_MOST_WAITING = 2


class EngineThreads:
    """The threads of one engine; in place of an asyncio loop, too: it calls back at once, in the thread that completes
    or cancels a future."""

    def __init__(self) -> None:
        self._lock = Lock()
        # A thread that has not handled a request yet is not counted, so there may be more.
        self._waiting = 0
        # The locks on which threads are held back.
        self._held: list[Lock] = []
        self._is_released = False
        self._current = _Current()

    def handle(self, handle: Callable[..., None], *arguments: object) -> None:
        """Call this in a thread of the engine, and hold it back if others wait."""
        self._begin()
        # After an exception the engine answers as soon as this returns.
        self._end(may_be_held=_succeeds(handle, *arguments))

    def call_soon(self, callback: Callable[..., None], *arguments: object, context: object = None) -> None:
        """Call this at once, in whatever thread. It is not held back, since the future would be kept, and its result
        with it."""
        if self._current.is_waiting:
            self._begin()
            _succeeds(callback, *arguments)
            self._end(may_be_held=False)
        else:
            _succeeds(callback, *arguments)

    call_soon_threadsafe = call_soon

    def release(self) -> None:
        """From now on no thread is held back."""
        with self._lock:
            self._is_released = True
            held, self._held = self._held, []
        for each in held:
            each.release()

    def _begin(self) -> None:
        """The current thread does not wait any longer. Another one takes its place if no thread waits."""
        successor = None
        with self._lock:
            self._waiting -= self._current.is_waiting
            if self._waiting < 1 and self._held:
                successor = self._held.pop()
                self._waiting += 1
        self._current.is_waiting = False
        if successor is not None:
            successor.release()

    def _end(self, *, may_be_held: bool) -> None:
        """The current thread waits, in the engine or here."""
        lock = self._current.lock
        with self._lock:
            is_held = may_be_held and self._waiting >= _MOST_WAITING and not self._is_released
            if is_held:
                self._held.append(lock)
            else:
                self._waiting += 1
        self._current.is_waiting = True
        if is_held:
            lock.acquire()


class _Current(local):
    """The state of a thread: whether it is counted among those that wait, and the lock on which it is held back."""

    def __init__(self) -> None:
        self.is_waiting = False
        self.lock = Lock()
        self.lock.acquire()


def _succeeds(callback: Callable[..., None], *arguments: object) -> bool:
    """The engine ignores exceptions. It answers with 500 when a request is dropped without an answer."""
    try:
        callback(*arguments)
    except Exception:
        _log.exception("A request failed outside of the application.")
        return False
    return True
