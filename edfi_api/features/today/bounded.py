"""Figures of a page that may take long to count: the page is answered in time, with those that are known.

The statements of a page have two seconds together. What takes longer is counted in a thread behind it, one figure after
the other, and the page says so. A figure is kept a hundred times as long as it took to count: a second for what took
ten milliseconds. So counting takes at most a hundredth of the time of the database, however many people open the page.
After that a page shows a figure that took long once more, while it is counted anew, and says how old it is.

What took long and has no personal data is also written to the admin database, by its type: other processes read it
there, and only one of them counts it.
"""

import hashlib
import logging
import threading
import time
from collections.abc import Callable, Hashable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Generic, TypeVar

import msgspec
from cachetools import TLRUCache
from django.db import DEFAULT_DB_ALIAS, DatabaseError, InterfaceError, connections
from django.db.backends.utils import CursorWrapper
from django.utils import timezone
from django.utils.html import format_html
from django.utils.safestring import SafeString

from edfi_api.core.data_stores.databases import own_connection
from edfi_api.core.storage.driver.execution import TookTooLong, time_limit
from edfi_api.features.today.models import CountedFigure
from edfi_api.web.admin_kit.readable_values import timestamp

# Of the statements of a page, and of one behind it: less than `migrate` waits for locks.
SECONDS = 2.0
SECONDS_BEHIND = 120.0
# What is found so soon behind the page does not wait for what takes longer.
_SECONDS_AT_FIRST = 5.0
# Of what is counted behind pages, one figure at a time: lists of millions of rows fit in it.
_WITH_MEMORY = "SET LOCAL work_mem = '64MB'"
# A statement of a page takes half of what the page has left, so that those behind it have some too.
_SHARE = 0.5
_TIMES_KEPT = 100
_LONGEST_KEPT = timedelta(hours=6).total_seconds()
# What took so long is shown a while longer, and read by other processes.
_SLOW_SECONDS = 0.5
_SHOWN_LONGER = timedelta(days=2).total_seconds()
_MOST_KEPT = 4096
_MOST_WAITING = 100
_SECONDS_BETWEEN_CLAIMS = 1.0
_FORGOTTEN = timedelta(days=3)
# One process at a time counts; another one may once that has had enough time.
_CLAIM = """
INSERT INTO counted_figure AS figure (name, seconds, claimed_until) VALUES (%(name)s, 0, now() + %(time)s)
    ON CONFLICT (name) DO UPDATE SET claimed_until = EXCLUDED.claimed_until WHERE figure.claimed_until < now()
RETURNING true
"""
_TOO_LONG = "{}: counting took more than {} seconds, so the page does without. It is tried again at {}."
_log = logging.getLogger(__name__)

Value = TypeVar("Value")
Find = Callable[[CursorWrapper], Value]


@dataclass(frozen=True, slots=True)
class Found(Generic[Value]):
    """What was found, and when; `value` is None if it took too long, and is looked for again at `again_at`."""

    value: Value | None
    at: datetime
    seconds: float

    @property
    def seconds_kept(self) -> float:
        return min(self.seconds * _TIMES_KEPT, _LONGEST_KEPT)

    @property
    def again_at(self) -> datetime:
        return self.at + timedelta(seconds=self.seconds_kept)

    @property
    def is_slow(self) -> bool:
        return self.seconds > _SLOW_SECONDS

    @property
    def seconds_shown(self) -> float:
        return self.seconds_kept + (_SHOWN_LONGER if self.is_slow and self.value is not None else 0)


@dataclass(frozen=True)
class Figure(Generic[Value]):
    """What is counted in a database, by a function of a cursor; other processes are told a value that has a `type`."""

    using: str
    key: Hashable
    find: Find[Value]
    type: Any = None

    @property
    def place(self) -> Hashable:
        return self.using, self.key

    @property
    def name(self) -> str:
        """Its name in the admin database."""
        return hashlib.sha256(repr(self.place).encode()).hexdigest()


@dataclass(slots=True)
class Notes:
    """The figures of one page: how long it may still count, since when what it shows is so, and what is left out."""

    left_out: list[str | SafeString] = field(default_factory=list)
    is_counting: bool = False
    oldest: datetime | None = None
    _spent: float = 0.0

    def find(self, what: str, figure: Figure[Value]) -> Value | None:
        """Return a figure that is known or found in time; else note that the page goes without it."""
        began = time.monotonic()
        found = figures.known(figure) or figures.found_within(figure, (SECONDS - self._spent) * _SHARE)
        self._spent += time.monotonic() - began
        if found is None:
            self.is_counting = True
            self.left_out.append(f"{what}: still being counted.")
            return None
        if found.value is None:
            self.left_out.append(format_html(_TOO_LONG, what, f"{SECONDS_BEHIND:g}", timestamp(found.again_at)))
        elif self.oldest is None or found.at < self.oldest:
            self.oldest = found.at
        return found.value

    def expect(self, figure: Figure[Any]) -> None:
        """Let a figure be counted behind the page, which will have it when it is loaded again."""
        if figures.known(figure) is None:
            figures.count_behind(figure)


class Figures:
    """What a process knows, and the thread that counts what takes long."""

    def __init__(self, start: Callable[[Callable[[], None]], None]) -> None:
        """`start` calls a function in a thread."""
        self.start = start
        self._kept: TLRUCache[Hashable, Found[Any]] = TLRUCache(
            _MOST_KEPT, ttu=lambda _, found, now: now + found.seconds_shown, timer=time.monotonic
        )
        self._lock = threading.Lock()
        # What requests look for; what waits for the thread or is being counted by it, and for how many seconds.
        self._in_requests: dict[Hashable, threading.Event] = {}
        self._behind: dict[Hashable, tuple[float, Figure[Any]]] = {}
        self.is_running = False

    def known(self, figure: Figure[Value]) -> Found[Value] | None:
        """Return what was found lately; what took long is returned longer, and counted anew behind the page."""
        with self._lock:
            found: Found[Value] | None = self._kept.get(figure.place)
        if found is None and figure.type is not None:
            found = self._of_others(figure)
        if found is not None and found.again_at < timezone.now():
            if found.value is None or not found.is_slow:
                return None
            self.count_behind(figure)
        return found

    def found_within(self, figure: Figure[Value], seconds: float) -> Found[Value] | None:
        """Return what is found in so many seconds, else leave it to the thread; several requests look for it once."""
        with self._lock:
            if figure.place in self._behind:
                return None
            other = self._in_requests.get(figure.place)
            if other is None:
                self._in_requests[figure.place] = threading.Event()
        if other is not None:
            other.wait(seconds)
            with self._lock:
                return self._kept.get(figure.place)
        try:
            found = _found_within(figure, seconds)
            if found.value is not None:
                self._keep(figure, found)
        finally:
            with self._lock:
                self._in_requests.pop(figure.place).set()
        if found.value is not None:
            return found
        self.count_behind(figure)
        return None

    def count_behind(self, figure: Figure[Any]) -> None:
        """Let the thread count it, unless it is about to do so."""
        with self._lock:
            if figure.place in self._behind or len(self._behind) >= _MOST_WAITING:
                return
            self._behind[figure.place] = _SECONDS_AT_FIRST, figure
            is_first, self.is_running = not self.is_running, True
        if is_first:
            self.start(self._run)

    def forget(self) -> None:
        """Forget all that this process keeps."""
        with self._lock:
            self._kept.clear()

    def _keep(self, figure: Figure[Any], found: Found[Any]) -> None:
        with self._lock:
            self._kept[figure.place] = found

    def _of_others(self, figure: Figure[Value]) -> Found[Value] | None:
        """Return what another process has found."""
        row = CountedFigure.objects.filter(name=figure.name, counted_at__gt=timezone.now() - _FORGOTTEN).first()
        if row is None or row.counted_at is None:
            return None
        try:
            value = None if row.value is None else msgspec.convert(row.value, figure.type, strict=False, str_keys=True)
        except msgspec.ValidationError:  # One of another version.
            return None
        found: Found[Value] = Found(value, row.counted_at, row.seconds)
        self._keep(figure, found)
        return found

    def _run(self) -> None:
        while following := self._following():
            seconds, figure = following
            is_last = seconds >= SECONDS_BEHIND
            is_done = True
            try:
                is_done = self._is_counted(figure, min(seconds, SECONDS_BEHIND), is_last=is_last)
            except (DatabaseError, InterfaceError) as error:
                _log.warning("a figure cannot be counted now: %s", " ".join(str(error).split()))
            except Exception:  # The thread must outlive a bug; pages do not depend on it.
                _log.exception("a figure was not counted")
            finally:
                with self._lock:
                    if is_done:
                        del self._behind[figure.place]
                    else:
                        self._behind[figure.place] = SECONDS_BEHIND, figure

    def _following(self) -> tuple[float, Figure[Any]] | None:
        """Return what is counted next, of those with the least time the one that has waited longest; it stays in its
        place until it is counted."""
        with self._lock:
            found = min(self._behind.values(), key=lambda each: each[0], default=None)
            self.is_running = found is not None
            return found

    def _is_counted(self, figure: Figure[Any], seconds: float, *, is_last: bool) -> bool:
        """Count it; return whether it is done, as it is after the last time in any case."""
        with connections_of_its_own({DEFAULT_DB_ALIAS, figure.using}):
            while figure.type is not None and not _is_claimed(figure):
                if not is_last:
                    return False
                time.sleep(_SECONDS_BETWEEN_CLAIMS)
            other = self._of_others(figure) if figure.type is not None else None
            found = other if other and other.again_at > timezone.now() else _found_within(figure, seconds, _WITH_MEMORY)
            is_done = is_last or found.value is not None
            if is_done:
                self._keep(figure, found)
            if figure.type is not None:
                _release(figure, found if is_done and found is not other else None)
            return is_done


def _in_a_thread(run: Callable[[], None]) -> None:
    threading.Thread(target=run, name="figures", daemon=True).start()


figures = Figures(_in_a_thread)


def _found_within(figure: Figure[Value], seconds: float, setting: str = "") -> Found[Value]:
    """Return what is found, in a transaction with a setting, or nothing if it takes too long."""
    began, value = time.monotonic(), None
    try:
        with time_limit(max(int(seconds * 1000), 1), figure.using), connections[figure.using].cursor() as cursor:
            if setting:
                cursor.execute(setting)
            value = figure.find(cursor)
    except TookTooLong:
        pass
    return Found(value, timezone.now(), time.monotonic() - began)


def _is_claimed(figure: Figure[Any]) -> bool:
    """Whether this process is the one that counts it."""
    values: dict[str, Any] = {"name": figure.name, "time": timedelta(seconds=2 * SECONDS_BEHIND)}
    with connections[DEFAULT_DB_ALIAS].cursor() as cursor:
        return cursor.execute(_CLAIM, values).fetchone() is not None


def _release(figure: Figure[Any], found: Found[Any] | None) -> None:
    """Let other processes count it, or take what this one has found."""
    values: dict[str, Any] = {"claimed_until": timezone.now()}
    if found is not None:
        value = None if found.value is None else msgspec.to_builtins(found.value, str_keys=True)
        values |= {"value": value, "counted_at": found.at, "seconds": found.seconds}
    CountedFigure.objects.filter(name=figure.name).update(**values)
    CountedFigure.objects.filter(claimed_until__lt=timezone.now() - _FORGOTTEN).delete()


@contextmanager
def connections_of_its_own(aliases: Iterable[str]) -> Iterator[None]:
    """Connections of this thread alone: those that are lent to requests are closed after some seconds of silence."""
    for alias in aliases:
        connections[alias] = own_connection(alias, "meadowlark-figures")
    try:
        yield
    finally:
        for alias in aliases:
            connections[alias].close()
            del connections[alias]
