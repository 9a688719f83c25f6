"""Upserts of concurrent requests in groups: one statement inserts or changes the documents of all of them.

A group has upserts of one client, resource and likely outcome, and is a set that is written by the statement for this
outcome. Whatever the statement leaves is upserted alone, which also finds out why a document is refused.

A thread that finds no statement running executes its own at once. Those that come while it runs wait, and then the
first of them executes one statement for all of them, and so on. So a thread that is alone never waits, and the more
threads write, the less each write costs. A group that is full does not wait for the statement before it: two statements
are executed at a time rather than a larger one, since a commit leaves the processor idle.
"""

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from enum import Enum, auto
from functools import partial
from queue import Empty, SimpleQueue
from threading import Lock
from typing import Generic, TypeVar
from uuid import UUID

from django.db import connections
from uuid_utils.compat import uuid7

from edfi_api.common.conf import api_settings
from edfi_api.core.storage.row_policy import NO_CONDITIONS, SetConditions
from edfi_api.core.storage.rows import Row, write_likely
from edfi_api.core.storage.stored import Outcome, Written
from edfi_api.core.storage.write_requests import WriteRequest

Request = TypeVar("Request")
Result = TypeVar("Result")

# In a larger group each document costs less, but while one statement commits, another one can be executed.
_GROUP_SIZE = 4
# The limit of a body. Larger ones take so long that others had better not wait for them.
_MOST_BYTES = 64 * 1024
# To find an unchanged document takes less than to wait for others.
_LIKELY = (Outcome.INSERTED, Outcome.UPDATED)


class _Signal(Enum):
    """The message to a member that waits: its group has been written, or it is to lead it."""

    DONE = auto()
    LEAD = auto()


class _Member(Generic[Request, Result]):
    """A request that waits for a signal."""

    __slots__ = ("request", "result", "signals")

    def __init__(self, request: Request) -> None:
        self.request = request
        self.result: Result | None = None
        self.signals: SimpleQueue[_Signal] = SimpleQueue()


class _Group(Generic[Request, Result]):
    """The upserts that wait for the end of a statement."""

    __slots__ = ("members",)

    def __init__(self) -> None:
        self.members: list[_Member[Request, Result]] = []


class GroupCommit(Generic[Request, Result]):
    """Groups the requests that have the same key.

    `patience` is in seconds: the most that requests wait for a statement before the next one is executed in parallel. A
    statement that takes long may wait for a lock, which need not concern other requests. So many requests as
    `group_size` do not wait.
    """

    def __init__(self, patience: float, group_size: int) -> None:
        self._patience = patience
        self._group_size = group_size
        self._lock = Lock()
        # The upserts that wait for the end of a statement that is executed, by its key.
        self._waiting: dict[Hashable, _Group[Request, Result]] = {}

    def execute(
        self,
        key: Hashable,
        request: Request,
        write_alone: Callable[[], Result | None],
        write_group: Callable[[Sequence[Request]], Mapping[int, Result]],
    ) -> Result | None:
        """Return what `write_alone` returns, or what `write_group` returns for the position of this request in a group,
        None if it returns nothing for it. Raises what `write_alone` raises; `write_group` must not raise."""
        with self._lock:
            group = self._waiting.get(key)
            if group is None:
                followers = self._waiting[key] = _Group()
            else:
                member = _Member[Request, Result](request)
                group.members.append(member)
        if group is not None:
            return self._execute_with_others(key, group, member, write_group)
        try:
            return write_alone()
        finally:
            self._pass_lead(key, followers)

    def _execute_with_others(
        self,
        key: Hashable,
        group: _Group[Request, Result],
        member: _Member[Request, Result],
        write_group: Callable[[Sequence[Request]], Mapping[int, Result]],
    ) -> Result | None:
        signal = None
        if len(group.members) < self._group_size:
            with suppress(Empty):
                signal = member.signals.get(timeout=self._patience)
        if signal is not _Signal.DONE and (followers := self._take_over(key, group)) is not None:
            self._lead(key, group, followers, write_group)
        while signal is not _Signal.DONE:  # The leader of the group tells all members, itself included.
            signal = member.signals.get()
        return member.result

    def _take_over(self, key: Hashable, group: _Group[Request, Result]) -> _Group[Request, Result] | None:
        """Close the group, and return the one that waits for its statement; None if another member leads it."""
        with self._lock:
            if self._waiting.get(key) is not group:
                return None
            followers = self._waiting[key] = _Group()
            return followers

    def _lead(
        self,
        key: Hashable,
        group: _Group[Request, Result],
        followers: _Group[Request, Result],
        write_group: Callable[[Sequence[Request]], Mapping[int, Result]],
    ) -> None:
        members = group.members
        try:
            for position, result in write_group([member.request for member in members]).items():
                members[position].result = result
        finally:
            self._pass_lead(key, followers)
            for member in members:
                member.signals.put(_Signal.DONE)

    def _pass_lead(self, key: Hashable, group: _Group[Request, Result]) -> None:
        """Let the first member lead this group: the statement for which it waits has ended."""
        with self._lock:
            if self._waiting.get(key) is not group:
                return
            if not group.members:
                del self._waiting[key]
                return
        group.members[0].signals.put(_Signal.LEAD)


@dataclass(frozen=True, slots=True)
class _Upsert:
    """A member of a group, and the conditions of its policy."""

    request: WriteRequest
    conditions: SetConditions


def groups_of_database(_using: str) -> GroupCommit[_Upsert, Written]:
    """A new one for each database."""
    return GroupCommit(api_settings.GROUP_MILLISECONDS / 1000, _GROUP_SIZE)


def upsert_in_group(
    request: WriteRequest,
    likely: Outcome | None,
    write_alone: Callable[[Outcome | None], Written],
    groups: GroupCommit[_Upsert, Written],
) -> Written:
    """Upsert in a group and return the result; or else what `write_alone` returns.

    `write_alone` is given the likely outcome, or None if the statement of a group has not written the document. Raises
    what `write_alone` does.
    """
    if likely is None or likely not in _LIKELY or (conditions := _conditions(request)) is None:
        return write_alone(likely)
    key = likely, request.client, request.document.resource.name
    found = groups.execute(
        key, _Upsert(request, conditions), partial(write_alone, likely), partial(_write_group, likely)
    )
    return write_alone(None) if found is None else found


def _conditions(request: WriteRequest) -> SetConditions | None:
    """The conditions of its policy; None if it has to be written alone."""
    if api_settings.GROUP_MILLISECONDS <= 0:
        return None
    if request.condition.is_given or len(request.document.text) > _MOST_BYTES:
        return None
    if connections[request.using].in_atomic_block:
        return None
    return NO_CONDITIONS if request.policy is None else request.policy.for_sets()


def _write_group(likely: Outcome, upserts: Sequence[_Upsert]) -> Mapping[int, Written]:
    """The results, by position, of those that one statement has written: none if it fails."""
    rows = {position: Row(upsert.request.document, uuid7()) for position, upsert in _compatible(upserts)}
    request = upserts[0].request
    return write_likely(rows, likely, upserts[0].conditions, request.using, request.client)


def _compatible(upserts: Sequence[_Upsert]) -> Iterator[tuple[int, _Upsert]]:
    """Yield the upserts under the conditions of the first, with their positions; of several that have an id in common,
    one.
    """
    ids: set[UUID] = set()
    for position, upsert in enumerate(upserts):
        aliases = upsert.request.document.identity.aliases
        if upsert.conditions == upserts[0].conditions and ids.isdisjoint(aliases):
            ids.update(aliases)
            yield position, upsert
