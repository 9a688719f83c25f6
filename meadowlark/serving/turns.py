"""Which request is worked on next: clients take turns, so that one with many connections does not make others wait.

The engine hands over requests in the order in which they arrive: whoever has most connections would get the server. So
a client has few requests at work while others are there; its further ones wait here, where they occupy no thread, and a
thread that has finished takes the next one of the client with the fewest at work. A client that is alone has all
threads. The engine has one thread more than requests are worked on at a time: it receives what arrives meanwhile.
See meadowlark/docs/design/decisions/0021-turns-of-clients.md.
"""

import logging
from collections import OrderedDict, deque
from collections.abc import Callable
from threading import Lock
from time import monotonic
from typing import NamedTuple

Work = Callable[[], None]


class Caller(NamedTuple):
    """The key of an API client; or, of a caller that is not known, the address."""

    name: str
    is_known: bool = True


# A client that has sent nothing for so long leaves its share to others.
_SECONDS_ABSENT = 10.0
# The part of the threads that one client has beside others. With more, those of its requests that compute would make
# the others wait for Python's global lock.
_SHARE = 4
_log = logging.getLogger("meadowlark.serving")


class Turns:
    """Work on up to `threads` requests at a time, of all clients together; up to `most_waiting` of each client wait."""

    def __init__(self, threads: int, most_waiting: int) -> None:
        self._free = threads
        self._share = max(1, threads // _SHARE)
        self._most_waiting = most_waiting
        self._at_work: dict[str, int] = {}
        # By client: the one that has had no turn for longest comes first.
        self._waiting: OrderedDict[str, deque[Work]] = OrderedDict()
        # The API client that has sent the last request, and until when others are expected, too.
        self._last = ""
        self._shared_until = 0.0
        self._lock = Lock()

    def take(self, client: str, work: Work, *, is_known: bool = True) -> bool:
        """Do the work of a client, now or when a thread that has finished takes it; False if too much waits already.
        A thread that has done it goes on with what waits.

        Only API clients are known. Others, such as probes of a balancer, have turns by their address, and leave a
        client alone.
        """
        with self._lock:
            if is_known and client != self._last:
                if self._last:
                    self._shared_until = monotonic() + _SECONDS_ABSENT
                self._last = client
            at_work = self._at_work.get(client, 0)
            if not self._free or (at_work >= self._share and self._is_shared()):
                return self._wait(client, work)
            self._free -= 1
            self._at_work[client] = at_work + 1
            if client in self._waiting:
                self._waiting[client].append(work)
                work = self._taken(client)
        following: tuple[str, Work] | None = (client, work)
        while following is not None:
            client, work = following
            try:
                work()
            except Exception:  # Of one request; the next one is another's.
                _log.exception("A request failed outside of the application.")
            with self._lock:
                following = self._next_after(client)
        return True

    def _is_shared(self) -> bool:
        return monotonic() < self._shared_until

    def _wait(self, client: str, work: Work) -> bool:
        if len(self._waiting.get(client, ())) >= self._most_waiting:
            return False
        self._waiting.setdefault(client, deque()).append(work)
        return True

    def _next_after(self, client: str) -> tuple[str, Work] | None:
        """Count the end of a client's work, and the beginning of what is returned."""
        at_work = self._at_work[client] - 1
        if at_work:
            self._at_work[client] = at_work
        else:
            del self._at_work[client]
        if self._waiting:
            following = min(self._waiting, key=lambda each: self._at_work.get(each, 0))
            at_work = self._at_work.get(following, 0)
            if at_work < self._share or not self._is_shared():
                self._at_work[following] = at_work + 1
                return following, self._taken(following)
        self._free += 1
        return None

    def _taken(self, client: str) -> Work:
        waiting = self._waiting.pop(client)
        work = waiting.popleft()
        if waiting:
            self._waiting[client] = waiting
        return work
