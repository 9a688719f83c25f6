"""What a test finds in memory about its database: the claims and the numbers of resources, and nothing else.

Reading them takes longer than most tests. Those that an earlier test has read are kept if the same transaction has
written the rows: the id of a transaction is never used again, even if it was rolled back.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from cachetools import LRUCache
from django.db import DEFAULT_DB_ALIAS, connections

from edfi_api.security import claims
from edfi_api.storage import data_store, resource_types
from tests import databases

# States of the rows: what `migrate` left, and another one for each surface that a module serves.
_MOST_STATES = 8

# A number that each change of the rows increases, and the transaction that has written it.
_State = tuple[int, str]


@dataclass(frozen=True)
class _Kept:
    """A value that `make` reads from rows. `state_of` is a query; `as_read_at` drops what a test has read from rows
    that it had changed, which it rolls back."""

    using: str
    make: Callable[[str], Any]
    state_of: str
    as_read_at: Callable[[Any, int], Any]
    values: LRUCache[_State, Any] = field(default_factory=lambda: LRUCache(_MOST_STATES))

    def keep(self, state: _State | None) -> None:
        known = data_store.known_data_store(self.using)
        value = known and known.kept(self.make)
        if value is not None and state is not None and (value := self.as_read_at(value, state[0])) is not None:
            self.values[state] = value

    def give(self) -> _State | None:
        """The state of the rows now; None if this process is not connected to the database."""
        connection = connections[self.using].connection
        if connection is None or connection.closed:
            return None
        # Not by Django's cursors, which are for tests only.
        state = connection.execute(self.state_of).fetchone()
        if state in self.values:
            data_store.data_store(self.using)._states[self.make] = self.values[state]
        return state


def _compiled_at(compiled: dict[int, Any], version: int) -> dict[int, Any]:
    return {id_: each for id_, each in compiled.items() if each.version == version}


def _numbers_at(rows: Any, highest: int) -> Any:
    return rows if max(rows.names, default=0) == highest else None


_KEPT = (
    _Kept(DEFAULT_DB_ALIAS, claims._compiled, "SELECT version, xmin::text FROM claims_version", _compiled_at),
    _Kept(
        databases.DOCUMENTS,
        resource_types._Rows,
        "SELECT id, xmin::text FROM resource_type ORDER BY id DESC LIMIT 1",
        _numbers_at,
    ),
)
_states: dict[str, _State | None] = {}


def forget_all_else() -> None:
    """To be called between tests."""
    for each in _KEPT:
        each.keep(_states.get(each.state_of))
    data_store.forget()
    for each in _KEPT:
        _states[each.state_of] = each.give()
