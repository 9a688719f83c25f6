"""What this process keeps in memory about a database: one object for each, the only place for such state.

A package that caches something about a database passes the function that makes it, mostly a class, to `state`. The
values are dropped with the object, so a database that is replaced or reset leaves nothing behind.
"""

from collections.abc import Callable
from typing import Any, TypeVar

State = TypeVar("State")


class DataStore:
    """A database with documents, and what this process keeps about it. `using` is its alias in Django's settings."""

    def __init__(self, using: str) -> None:
        self.using = using
        self._states: dict[Callable[[str], Any], Any] = {}

    def state(self, make: Callable[[str], State]) -> State:
        """What `make` returned for this database at the first call; nothing is kept if it raises.

        Threads need no lock: of two that call `make` concurrently, both get the value that was kept first.
        """
        kept = self._states.get(make)
        if kept is None:
            kept = self._states.setdefault(make, make(self.using))
        found: State = kept
        return found

    def kept(self, make: Callable[[str], State]) -> State | None:
        """What `state` keeps; None before its first call."""
        found: State | None = self._states.get(make)
        return found

    def drop(self, make: Callable[[str], Any]) -> None:
        """Drop one value; the next call of `state` makes it again."""
        self._states.pop(make, None)


_data_stores: dict[str, DataStore] = {}


def data_store(using: str) -> DataStore:
    """The object of the database with this alias."""
    found = _data_stores.get(using)
    return found if found is not None else _data_stores.setdefault(using, DataStore(using))


def known_data_store(using: str) -> DataStore | None:
    """The object of the database, if this process has used it."""
    return _data_stores.get(using)


def discard(using: str) -> None:
    """Drop everything that is kept about a database."""
    _data_stores.pop(using, None)


def forget() -> None:
    """Drop everything that is kept about any database."""
    _data_stores.clear()
