"""Upserts of concurrent requests in groups: one statement inserts or changes the documents of all of them.

A group has upserts of one client, resource and likely outcome. Its statement does what leads to this outcome only
(`statements/insert_group.sql`, `update_group.sql`). Whatever it leaves is upserted alone, which also finds out why a
document is refused.

A thread that finds no statement running executes its own at once. Those that come while it runs wait, and then the
first of them executes one statement for all of them, and so on. So a thread that is alone never waits, and the more
threads write, the less each write costs. A group that is full does not wait for the statement before it: two statements
are executed at a time rather than a larger one, since a commit leaves the processor idle.
"""

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from enum import Enum, auto
from functools import lru_cache, partial
from queue import Empty, SimpleQueue
from threading import Lock
from typing import Any, Generic, TypeVar
from uuid import UUID

import orjson
from django.db import DatabaseError, InterfaceError, connections
from uuid_utils.compat import uuid7

from edfi_api.conf import api_settings
from edfi_api.documents.securables import COLUMNS
from edfi_api.storage import resource_types
from edfi_api.storage.driver.execution import StatementAborted, execute
from edfi_api.storage.driver.sql import Sql, all_of
from edfi_api.storage.driver.sql_files import statements_beside
from edfi_api.storage.requests import WriteRequest
from edfi_api.storage.row_policy import NO_CONDITIONS, SetConditions
from edfi_api.storage.stored import SECURABLES, Outcome, Written

Request = TypeVar("Request")
Result = TypeVar("Result")

# In a larger group each document costs less, but while one statement commits, another one can be executed.
_GROUP_SIZE = 4
# Of a body. Larger ones take so long that others had better not wait for them.
_MOST_BYTES = 64 * 1024

_statement = statements_beside(__file__)
_SENT = _statement("group").fill(columns=", ".join(f"{name} {type_}" for name, type_ in COLUMNS.items()))
_LINKS, _NO_LINKS = _statement("links_of_group"), _statement("no_links_of_group")
# By likely outcome, with the rows of which the statement needs the links. To find an unchanged document takes less than
# to wait for others.
_STATEMENTS = {
    Outcome.INSERTED: (_statement("insert_group"), "sent"),
    Outcome.UPDATED: (_statement("update_group"), "existing"),
}


class _Signal(Enum):
    """What a member that waits is told: its group has been written, or it is to lead it."""

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
    """Those that wait for the end of a statement."""

    __slots__ = ("members",)

    def __init__(self) -> None:
        self.members: list[_Member[Request, Result]] = []


class GroupCommit(Generic[Request, Result]):
    """Groups the requests that have the same key.

    `patience` is in seconds: the most that requests wait for a statement before the next one is executed beside it. A
    statement that takes long may wait for a lock, which need not concern other requests. So many requests as
    `group_size` do not wait.
    """

    def __init__(self, patience: float, group_size: int) -> None:
        self._patience = patience
        self._group_size = group_size
        self._lock = Lock()
        # By the key of each statement that is executed: those that wait for its end.
        self._waiting: dict[Hashable, _Group[Request, Result]] = {}

    def execute(
        self,
        key: Hashable,
        request: Request,
        write_alone: Callable[[], Result | None],
        write_group: Callable[[Sequence[Request]], Mapping[int, Result]],
    ) -> Result | None:
        """What `write_alone` returns, or what `write_group` returns for the position of this request in a group, None
        if it returns nothing for it. Raises what `write_alone` raises; `write_group` must not raise."""
        with self._lock:
            group = self._waiting.get(key)
            if group is None:
                followers = self._waiting[key] = _Group()
            else:
                member = _Member[Request, Result](request)
                group.members.append(member)
        if group is not None:
            return self._with_others(key, group, member, write_group)
        try:
            return write_alone()
        finally:
            self._end(key, followers)

    def _with_others(
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
        """Nobody else can join the group: who comes now waits for its statement. None if another member leads it."""
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
            self._end(key, followers)
            for member in members:
                member.signals.put(_Signal.DONE)

    def _end(self, key: Hashable, group: _Group[Request, Result]) -> None:
        """The statement for which this group waits has ended: the first member is to lead it."""
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

    def row(self, position: int) -> Mapping[str, Any]:
        """The values of the document, as `statements/group.sql` reads them."""
        body = orjson.Fragment(self.request.incoming.text)
        return self.request.values(uuid7()) | {"position": position, "body": body}


def groups_of_database(_using: str) -> GroupCommit[_Upsert, Written]:
    """A new one for each database."""
    return GroupCommit(api_settings.GROUP_MILLISECONDS / 1000, _GROUP_SIZE)


def upsert_in_group(
    request: WriteRequest,
    likely: Outcome | None,
    write_alone: Callable[[Outcome | None], Written],
    groups: GroupCommit[_Upsert, Written],
) -> Written:
    """The result of the upsert in a group, or else what `write_alone` returns for the likely outcome, which is unknown
    after the statement of a group has left the document. Raises what `write_alone` does."""
    if likely is None or likely not in _STATEMENTS or (conditions := _conditions(request)) is None:
        return write_alone(likely)
    key = likely, request.client, request.incoming.resource.name
    found = groups.execute(
        key, _Upsert(request, conditions), partial(write_alone, likely), partial(_write_group, likely)
    )
    return write_alone(None) if found is None else found


def _conditions(request: WriteRequest) -> SetConditions | None:
    """The conditions of its policy; None if it has to be written alone."""
    if api_settings.GROUP_MILLISECONDS <= 0:
        return None
    if request.condition.is_given or len(request.incoming.text) > _MOST_BYTES:
        return None
    if connections[request.using].in_atomic_block:
        return None
    return NO_CONDITIONS if request.policy is None else request.policy.for_sets()


def _write_group(likely: Outcome, upserts: Sequence[_Upsert]) -> Mapping[int, Written]:
    """The results, by position, of those that one statement has written: none if it fails."""
    chosen = dict(_compatible(upserts))
    request, conditions = upserts[0].request, upserts[0].conditions
    has_links = any(upsert.request.incoming.linked for upsert in chosen.values())
    statement = _composed(likely, conditions, has_links=has_links).with_values(
        rows=orjson.dumps([upsert.row(position) for position, upsert in chosen.items()]).decode(),
        client=request.client,
        resource_type=resource_types.numbers(request.using)[request.incoming.resource.name],
    )
    try:
        rows = execute(statement, request.using)
    except (DatabaseError, InterfaceError, StatementAborted):
        return {}
    return {position: Written(Outcome(outcome), uuid, version) for position, outcome, uuid, version in rows}


def _compatible(upserts: Sequence[_Upsert]) -> Iterator[tuple[int, _Upsert]]:
    """Those under the conditions of the first, with their positions; of several that have an id in common, one."""
    ids: set[UUID] = set()
    for position, upsert in enumerate(upserts):
        aliases = upsert.request.incoming.identity.aliases
        if upsert.conditions == upserts[0].conditions and ids.isdisjoint(aliases):
            ids.update(aliases)
            yield position, upsert


def _composed(likely: Outcome, conditions: SetConditions, *, has_links: bool) -> Sql:
    if likely is Outcome.INSERTED:
        allowed = conditions.with_check_new
    else:
        allowed = all_of([conditions.using, conditions.with_check])
    return Sql(_text(likely, allowed.text, has_links), allowed.parameters)


@lru_cache(maxsize=1024)
def _text(likely: Outcome, allowed: str, has_links: bool) -> str:
    statement, with_links = _STATEMENTS[likely]
    return statement.fill(
        sent=_SENT,
        links=_LINKS.fill(rows=with_links) if has_links else _NO_LINKS,
        securables=SECURABLES,
        stored_securables=_columns_of("d"),
        new_securables=_columns_of("s"),
        and_allowed=f" AND ({allowed})",
    ).text


def _columns_of(row: str) -> str:
    return ", ".join(f"{row}.{name}" for name in COLUMNS)
