"""What this process keeps in memory about a database: one object for each, the only place for such state.

A package that caches something about a database passes the function that makes it, mostly a class, to `value`. The
values are dropped with the object, so a database that is replaced or reset leaves nothing behind.
"""

from collections.abc import Callable
from typing import Any, TypeVar

Value = TypeVar("Value")


class DatabaseState:
    """What this process keeps about one database. `using` is its alias in Django's settings."""

    def __init__(self, using: str) -> None:
        self.using = using
        self._values: dict[Callable[[str], Any], Any] = {}

    def value(self, make: Callable[[str], Value]) -> Value:
        """What `make` returned for this database at the first call; nothing is kept if it raises.

        Threads need no lock: of two that call `make` concurrently, both get the value that was kept first.
        """
        kept = self._values.get(make)
        if kept is None:
            kept = self._values.setdefault(make, make(self.using))
        found: Value = kept
        return found

    def kept(self, make: Callable[[str], Value]) -> Value | None:
        """What `value` keeps; None before its first call."""
        found: Value | None = self._values.get(make)
        return found

    def drop(self, make: Callable[[str], Any]) -> None:
        """Drop one value; the next call of `value` makes it again."""
        self._values.pop(make, None)


_states_by_alias: dict[str, DatabaseState] = {}


def database_state(using: str) -> DatabaseState:
    """The object of the database with this alias."""
    found = _states_by_alias.get(using)
    return found if found is not None else _states_by_alias.setdefault(using, DatabaseState(using))


def known_database_state(using: str) -> DatabaseState | None:
    """The object of the database, if this process has used it."""
    return _states_by_alias.get(using)


def discard(using: str) -> None:
    """Drop everything that is kept about a database."""
    _states_by_alias.pop(using, None)


def forget() -> None:
    """Drop everything that is kept about any database."""
    _states_by_alias.clear()
