"""What this process keeps in memory about a database: one object for each; and its replicas."""

import time
from collections.abc import Callable
from typing import Any, TypeVar

from django.db import DEFAULT_DB_ALIAS, connections

from edfi_api.core.storage.driver.execution import execute, run_with_retries
from edfi_api.core.storage.driver.sql import statements_of

# A package that caches something about a database passes the function that makes it, mostly a class, to `value`. The
# values are dropped with the object, so a database that is replaced or reset leaves nothing.

Value = TypeVar("Value")


class _Values(dict[Callable[[str], Any], Any]):
    """What functions have returned for a database. Threads need no lock: of two that call a function concurrently, both
    get the value that was kept first."""

    def __init__(self, using: str) -> None:
        super().__init__()
        self._using = using

    def __missing__(self, make: Callable[[str], Any]) -> Any:
        return self.setdefault(make, make(self._using))


class DatabaseState:
    """What this process keeps about one database. `using` is its alias in Django's settings."""

    # Returns what a function returned for this database at the first call; nothing is kept if it raises. Every request
    # asks several times, so this and `database_state` are methods of dictionaries.
    value: Callable[[Callable[[str], Value]], Value]

    def __init__(self, using: str) -> None:
        self.using = using
        self._values = _Values(using)
        self.value = self._values.__getitem__

    def kept(self, make: Callable[[str], Value]) -> Value | None:
        """Return what `value` keeps; None before its first call."""
        found: Value | None = self._values.get(make)
        return found

    def drop(self, make: Callable[[str], Any]) -> None:
        """Drop one value; the next call of `value` makes it again."""
        self._values.pop(make, None)


class _States(dict[str, DatabaseState]):
    """The states by the aliases of their databases."""

    def __missing__(self, using: str) -> DatabaseState:
        return self.setdefault(using, DatabaseState(using))


_states_by_alias = _States()
# Returns the state of the database with an alias.
database_state: Callable[[str], DatabaseState] = _states_by_alias.__getitem__


def known_database_state(using: str) -> DatabaseState | None:
    """The object of the database, if this process has used it."""
    return _states_by_alias.get(using)


def discard(using: str) -> None:
    """Drop everything that is kept about a database."""
    _states_by_alias.pop(using, None)


def forget() -> None:
    """Drop everything that is kept about any database."""
    _states_by_alias.clear()


# A record at every write would cost a statement each and serialise the writes of one client; so each process renews a
# client's record at most once a second, after a write and before its response.

_REPLICA = "replica"

# A record is at most this much older than the client's last write.
SECONDS_BETWEEN_RECORDS = 1

_RECORD = statements_of(__file__)("record_writer")


class Replicas:
    """The aliases of a database's replicas: that of the settings for the admin database; those of a data store are
    set when it is used."""

    def __init__(self, using: str) -> None:
        is_named = using == DEFAULT_DB_ALIAS and _REPLICA in connections.settings
        self.aliases: tuple[str, ...] = (_REPLICA,) if is_named else ()


def replicas(using: str) -> tuple[str, ...]:
    """The aliases of the replicas of a database."""
    return database_state(using).value(Replicas).aliases


def record_writer(client: int | None, using: str) -> None:
    """Record the client's write. Must be called after the write and before its response.

    Nothing is recorded within a transaction of the caller, which would lock the record until its end: the caller
    records the client when it has committed.
    """
    state = database_state(using)
    if client is None or not state.value(Replicas).aliases or connections[using].in_atomic_block:
        return
    now, recorded_at = time.monotonic(), state.value(_recorded_at)
    if now - recorded_at.get(client, -SECONDS_BETWEEN_RECORDS) >= SECONDS_BETWEEN_RECORDS:
        run_with_retries(lambda: execute(_RECORD.with_values(client=client), using))
        recorded_at[client] = now


def _recorded_at(_using: str) -> dict[int, float]:
    """Return when this process last recorded a write of each client, by its monotonic clock."""
    return {}
