"""Answers 429 are sent a while after their requests, and no thread waits for that.

A client that is refused at once often repeats the request at once, over a new connection. Thousands of such requests in
a second would cost the server more than the work that it refuses. A client whose refusals are sent a second later sends
not more of them in a second than it has connections.
"""

import logging
from collections import deque
from collections.abc import Callable
from time import monotonic

Refuse = Callable[[], None]

_log = logging.getLogger("meadowlark.serving")


class DelayedRefusals:
    """The refusals of a process that wait for so many seconds each."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._waiting: deque[tuple[float, Refuse]] = deque()

    def add(self, refuse: Refuse) -> None:
        """Call `refuse` later."""
        self._waiting.append((monotonic() + self._seconds, refuse))

    def send_due(self) -> bool:
        """Send those that have waited long enough, and return whether others wait. For one thread alone."""
        now = monotonic()
        while self._waiting and self._waiting[0][0] <= now:
            _, refuse = self._waiting.popleft()
            try:
                refuse()
            except Exception:  # Of one request; the next one is another's.
                _log.exception("A request failed outside of the application.")
        return bool(self._waiting)
