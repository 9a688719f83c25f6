"""Statements of a page that may take long: each has a time limit, and what it found is kept for a while.

A page of a database with ten million documents has to be answered, so a block that would take too long says so. What is
found is kept a hundred times as long as it took to find, so that counting takes a hundredth of the time of the
database, however many people open the page: a second for what took ten milliseconds. The page says how old it is.
"""

import threading
import time
from collections import defaultdict
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Generic, TypeVar

from cachetools import TLRUCache
from django.db import connections
from django.db.backends.utils import CursorWrapper
from django.utils import timezone

from edfi_api.core.storage.driver.time_limits import TookTooLong, time_limit

SECONDS = 2
_TIMES_KEPT = 100
_MOST_KEPT = 4096

Value = TypeVar("Value")


@dataclass(frozen=True, slots=True)
class Found(Generic[Value]):
    """What was found, and when; `value` is None if it took too long, and is looked for again at `again_at`."""

    value: Value | None
    at: datetime
    seconds: float

    @property
    def seconds_kept(self) -> float:
        return self.seconds * _TIMES_KEPT

    @property
    def again_at(self) -> datetime:
        return self.at + timedelta(seconds=self.seconds_kept)


_kept: TLRUCache[Hashable, Found[Any]] = TLRUCache(
    _MOST_KEPT, ttu=lambda _, found, now: now + found.seconds_kept, timer=time.monotonic
)
_lock = threading.Lock()
_locks: defaultdict[Hashable, threading.Lock] = defaultdict(threading.Lock)


def kept(using: str, key: Hashable, find: Callable[[CursorWrapper], Value]) -> Found[Value]:
    """Return what was found lately, else what `find` returns now; a process looks for it once at a time."""
    place = (using, key)
    with _lock:
        found: Found[Value] | None = _kept.get(place)
        if found is not None:
            return found
        lock = _locks[place]
    with lock:
        with _lock:
            found = _kept.get(place)
        try:
            if found is None:
                found = found_within_limit(using, find)
                with _lock:
                    _kept[place] = found
        finally:
            with _lock:
                _locks.pop(place, None)
    return found


def found_within_limit(using: str, find: Callable[[CursorWrapper], Value]) -> Found[Value]:
    """Return what `find` returns, or nothing if it took too long."""
    began, value = time.monotonic(), None
    try:
        with time_limit(int(SECONDS * 1000), using), connections[using].cursor() as cursor:
            value = find(cursor)
    except TookTooLong:
        pass
    return Found(value, timezone.now(), time.monotonic() - began)


def forget() -> None:
    """Forget all that is kept."""
    with _lock:
        _kept.clear()
