"""Answers 429 are sent a while after their requests, and no thread waits for that.

A client that is refused at once often repeats the request at once, over a new connection. Thousands of such requests in
a second would cost the server more than the work that it refuses. A client that is answered a second later sends not
more of them in a second than it has connections.
"""

import logging
from collections import deque
from collections.abc import Callable
from time import monotonic

Send = Callable[[], object]

_log = logging.getLogger("meadowlark.serving")


class DelayedAnswers:
    """The answers of a process that wait for so many seconds each. `most` of them wait at a time, as many as there may
    be connections: beyond that, clients have closed theirs, and further answers are sent at once."""

    def __init__(self, seconds: float, most: int) -> None:
        self._seconds = seconds
        self._most = most
        self._waiting: deque[tuple[float, Send]] = deque()

    def add(self, send: Send) -> None:
        """Call `send` later."""
        if len(self._waiting) < self._most:
            self._waiting.append((monotonic() + self._seconds, send))
        else:
            send()

    def send_due(self) -> bool:
        """Send those that have waited long enough, and return whether others wait. For one thread alone."""
        now = monotonic()
        while self._waiting and self._waiting[0][0] <= now:
            _, send = self._waiting.popleft()
            try:
                send()
            except Exception:  # Of one request; the next one is another's.
                _log.exception("A request failed outside of the application.")
        return bool(self._waiting)
