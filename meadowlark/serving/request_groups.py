"""Requests for documents by id are answered in groups, with one round trip to the database for each group.

One thread answers a group. Requests that arrive meanwhile wait here, occupy no thread, and are the next group. So a
client with one connection has groups of one, and the more requests there are, the less each costs. A group has requests
of all clients that wait, in turn. Where the database is far away, several groups are at work at a time.
See meadowlark/docs/design/decisions/0022-groups-of-reads.md.
"""

import logging
from collections import OrderedDict, deque
from collections.abc import Callable
from functools import partial
from threading import Lock
from time import monotonic
from typing import NamedTuple

from meadowlark.serving.short_way import ALONE, PlainRequest, PreparedRequests, ReadWithOthers
from meadowlark.serving.turns import TOGETHER, Turns

_MOST_TOGETHER = 16
# Where a round trip takes so many seconds, it is mostly spent on the way, and the next group does not wait for it.
_LONG = 0.003
# The weight of a group in the mean.
_WEIGHT = 1 / 8
_log = logging.getLogger("meadowlark.serving")


class Member(NamedTuple):
    """A request of a group. `answer` is called in a turn, with what was read for it; the request may be `ALONE`."""

    client: str
    plain: PlainRequest
    answer: Callable[[ReadWithOthers], None]


class RequestGroups:
    """Groups of requests. One is answered at a time, or up to `most_at_work` of them where the database is far away. Up
    to `most_waiting` requests of each client wait."""

    def __init__(self, turns: Turns, prepared: PreparedRequests, most_at_work: int, most_waiting: int) -> None:
        self._turns = turns
        self._prepared = prepared
        self._most_at_work = most_at_work
        self._most_waiting = most_waiting
        # By client: the one that has had no turn for longest comes first.
        self._waiting: OrderedDict[str, deque[Member]] = OrderedDict()
        self._at_work = 0
        # Of a round trip, as a mean that follows the last ones.
        self._seconds = 0.0
        self._lock = Lock()

    def add(self, member: Member) -> bool:
        """Answer the request with the next group, now or later; False if too many of its client wait."""
        with self._lock:
            if len(self._waiting.get(member.client, ())) >= self._most_waiting:
                return False
            self._waiting.setdefault(member.client, deque()).append(member)
            begins = self._at_work < (1 if self._seconds < _LONG else self._most_at_work)
            self._at_work += begins
        self._turns.notice(member.client)
        if begins and not self._turns.take(TOGETHER, self._answer_next, is_known=False):
            self._turns.queue(TOGETHER, self._answer_next)
        return True

    def _answer_next(self) -> None:
        """Answer a group. The thread that has done it goes on with the next one, or with what waits longer."""
        try:
            self._answer(self._take_group())
        finally:
            with self._lock:
                goes_on = bool(self._waiting)
                self._at_work -= not goes_on
            if goes_on:
                self._turns.queue(TOGETHER, self._answer_next)

    def _take_group(self) -> list[Member]:
        """Take up to so many members of those that wait, one of each client after the other."""
        group: list[Member] = []
        with self._lock:
            while self._waiting and len(group) < _MOST_TOGETHER:
                client, waiting = self._waiting.popitem(last=False)
                group.append(waiting.popleft())
                if waiting:
                    self._waiting[client] = waiting
        return group

    def _answer(self, group: list[Member]) -> None:
        began = monotonic()
        if len(group) == 1:
            group[0].answer(ALONE)
            self._count(monotonic() - began)
        elif group:
            reads = self._prepared.read_together([member.plain for member in group])
            self._count(monotonic() - began)
            for member, read in zip(group, reads, strict=True):
                if read.found is None:
                    self._turns.queue(member.client, partial(member.answer, ALONE))
                    continue
                try:
                    member.answer(read)
                except Exception:  # Of one request; the next one is another's.
                    _log.exception("A request failed outside of the application.")

    def _count(self, seconds: float) -> None:
        """Count the time for which a group has waited for the database."""
        self._seconds += _WEIGHT * (seconds - self._seconds)
