"""Which request is worked on next: clients take turns, so that one with many connections does not make others wait.

The engine hands over requests in the order in which they arrive: whoever has most connections would get the server. So
a client has few requests at work while others are there; its further ones wait here, where they occupy no thread, and a
thread that has finished takes the next one of the client with the fewest at work. A client that is alone has all
threads. The engine has one thread more than requests are worked on at a time: it receives what arrives in the meantime.
See meadowlark/docs/design/decisions/0021-turns-of-clients.md.
"""

import logging
import sys
from collections import OrderedDict, deque
from collections.abc import Callable
from threading import Lock
from time import monotonic, thread_time
from typing import NamedTuple

Work = Callable[[], None]


class Caller(NamedTuple):
    """The key of an API client; or, of a caller that is not known, the address."""

    name: str
    is_known: bool = True


# A client that has sent nothing for so long leaves its share to others.
_SECONDS_ABSENT = 10.0
# The part of the threads that one client has while there are others.
_SHARE = 4
# Processor time of a request, in seconds, from which on its client has one thread while there are others. Of threads
# that compute one runs at a time, so more of them do no more work, but each makes the others wait for Python's global
# lock. A request by id takes a tenth of it, a page of 500 twice as much or more.
_COMPUTING = 0.002
# The weight of a request in the mean of its client.
_WEIGHT = 1 / 8
# For which a thread may keep Python's global lock from others while such a client and others are at work. Where no
# one computes for long, it would only interrupt short requests.
_SHORT_SWITCH_SECONDS = 0.0003
_log = logging.getLogger("meadowlark.serving")


# In place of a client: work for requests of several clients, each of which takes little time.
TOGETHER = ""


class Turns:
    """Work on up to `threads` requests at a time, of all clients together; up to `most_waiting` of each client wait."""

    def __init__(self, threads: int, most_waiting: int) -> None:
        self._threads = threads
        self._free = threads
        self._share = max(1, threads // _SHARE)
        self._most_waiting = most_waiting
        self._at_work: dict[str, int] = {}
        # The processor time of the requests of clients that are at work or wait, as a mean that follows the last ones.
        self._seconds: dict[str, float] = {}
        # Those of them whose requests compute, and for how long a thread may keep the global lock without them.
        self._computing: set[str] = set()
        self._usual_interval = self._interval = sys.getswitchinterval()
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
        if is_known and client != self._last:
            self.notice(client)
        with self._lock:
            at_work = self._at_work.get(client, 0)
            if not self._free or (at_work and at_work >= self._share_of(client, is_shared=self._is_shared())):
                return self._wait(client, work)
            self._free -= 1
            self._at_work[client] = at_work + 1
            if client in self._waiting:
                self._waiting[client].append(work)
                work = self._take_waiting(client)
        following: tuple[str, Work] | None = (client, work)
        while following is not None:
            client, work = following
            # Who computes only matters while there are others; asking the system for the time costs as much as all of
            # this.
            begin = thread_time() if monotonic() < self._shared_until else None
            try:
                work()
            except Exception:  # Of one request; the next one is another's.
                _log.exception("A request failed outside of the application.")
            seconds = None if begin is None else thread_time() - begin
            with self._lock:
                following = self._finish_and_take_next(client, seconds)
        return True

    def notice(self, client: str) -> None:
        """Take note that an API client has sent a request: two that do so share the threads."""
        with self._lock:
            if self._last and client != self._last:
                self._shared_until = monotonic() + _SECONDS_ABSENT
            self._last = client

    def queue(self, client: str, work: Work) -> None:
        """Have the work of a client done by a thread that finishes other work, such as the one that calls this."""
        with self._lock:
            self._waiting.setdefault(client, deque()).append(work)

    def _is_shared(self) -> bool:
        return monotonic() < self._shared_until

    def _wait(self, client: str, work: Work) -> bool:
        if len(self._waiting.get(client, ())) >= self._most_waiting:
            return False
        self._waiting.setdefault(client, deque()).append(work)
        return True

    def _share_of(self, client: str, *, is_shared: bool) -> int:
        if not is_shared:
            return self._threads
        return 1 if client in self._computing else self._share

    def _finish_and_take_next(self, client: str, seconds: float | None) -> tuple[str, Work] | None:
        """Count the end of a client's work, and the beginning of what is returned. `seconds` is the processor time of
        the work, None if the client was alone."""
        at_work = self._at_work[client] - 1
        if at_work:
            self._at_work[client] = at_work
        else:
            del self._at_work[client]
        if not at_work and client not in self._waiting:
            self._seconds.pop(client, None)
            self._computing.discard(client)
        elif seconds is not None and client != TOGETHER:
            self._count(client, seconds)
        if self._computing or self._interval != self._usual_interval:
            self._set_switch_interval()
        following = self._take_next() if self._waiting else None
        if following is None:
            self._free += 1
        return following

    def _count(self, client: str, seconds: float) -> None:
        """Count a request that took so much processor time."""
        before = self._seconds.get(client, 0.0)
        mean = self._seconds[client] = before + _WEIGHT * (seconds - before)
        if mean > _COMPUTING:
            self._computing.add(client)
        else:
            self._computing.discard(client)

    def _set_switch_interval(self) -> None:
        is_short = self._computing and self._is_shared()
        interval = min(_SHORT_SWITCH_SECONDS, self._usual_interval) if is_short else self._usual_interval
        if interval != self._interval:
            sys.setswitchinterval(interval)
            self._interval = interval

    def _take_next(self) -> tuple[str, Work] | None:
        """Take what waits of the client with the fewest requests at work, among those that have less than their
        share."""
        is_shared = self._is_shared()
        fewest = self._threads
        client = None
        for each in self._waiting:
            at_work = self._at_work.get(each, 0)
            if at_work < fewest and at_work < self._share_of(each, is_shared=is_shared):
                client, fewest = each, at_work
        if client is None:
            return None
        self._at_work[client] = fewest + 1
        return client, self._take_waiting(client)

    def _take_waiting(self, client: str) -> Work:
        waiting = self._waiting.pop(client)
        work = waiting.popleft()
        if waiting:
            self._waiting[client] = waiting
        return work
