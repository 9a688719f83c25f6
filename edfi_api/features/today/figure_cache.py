"""The cache of the figures of pages, some of which take long to count: a page is answered in time, with those it gets.

The statements of a page have two seconds together (`PageFigures`). A figure that is not counted by then is missing from
the page, which says so, and a thread of the process counts it in the background, one figure after the other
(`FigureCache`).

A counted figure is fresh a hundred times as long as it took to count: a second for what took ten milliseconds. So
counting takes at most a hundredth of the time of the database, however many people open the page. A figure that was
slow to count is shown two days longer, with its age, while it is counted again in the background.

A figure with a `type` has no personal data, and processes share it: one of them counts it, and all read it in the admin
database (`CountedFigure`).
"""

import hashlib
import logging
import threading
import time
from collections.abc import Callable, Hashable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Generic, NamedTuple, TypeVar

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

# All statements of a page, and the last attempt in the background: less than `migrate` waits for locks.
PAGE_SECONDS = 2.0
BACKGROUND_SECONDS = 120.0
# The first attempt in the background is shorter, so that quick figures do not wait for slow ones.
_FIRST_ATTEMPT_SECONDS = 5.0
# In the background one figure is counted at a time: lists of millions of rows fit in this.
_MORE_MEMORY = "SET LOCAL work_mem = '64MB'"
# A figure may take half of what the page has left, so that the next ones have some too.
_SHARE = 0.5
_TIMES_FRESH = 100
_LONGEST_FRESH = timedelta(hours=6).total_seconds()
_SLOW_SECONDS = 0.5
_SHOWN_WHEN_STALE = timedelta(days=2).total_seconds()
_MOST_CACHED = 4096
_MOST_QUEUED = 100
_SECONDS_BETWEEN_CLAIMS = 1.0
_TOO_LONG = "{}: counting took more than {} seconds, so the page does without. It is tried again at {}."
_log = logging.getLogger(__name__)

Value = TypeVar("Value")
Find = Callable[[CursorWrapper], Value]


@dataclass(frozen=True)
class Figure(Generic[Value]):
    """A figure that a function of a cursor counts in a database. Processes share it if its values have a `type`."""

    using: str
    key: Hashable
    find: Find[Value]
    type: Any = None

    @property
    def place(self) -> Hashable:
        """The key in the cache of a process."""
        return self.using, self.key

    @property
    def name(self) -> str:
        """The key in the admin database."""
        return hashlib.sha256(repr(self.place).encode()).hexdigest()

    @property
    def is_shared(self) -> bool:
        return self.type is not None


@dataclass(frozen=True, slots=True)
class Counted(Generic[Value]):
    """The value of a figure, when it was counted, and how long that took. The value is None if it took too long."""

    value: Value | None
    at: datetime
    seconds: float

    @property
    def fresh_until(self) -> datetime:
        return self.at + timedelta(seconds=self._seconds_fresh)

    @property
    def is_fresh(self) -> bool:
        return timezone.now() <= self.fresh_until

    @property
    def is_shown_when_stale(self) -> bool:
        return self.value is not None and self.seconds > _SLOW_SECONDS

    @property
    def seconds_cached(self) -> float:
        return self._seconds_fresh + (_SHOWN_WHEN_STALE if self.is_shown_when_stale else 0)

    @property
    def _seconds_fresh(self) -> float:
        return min(self.seconds * _TIMES_FRESH, _LONGEST_FRESH)


@dataclass(slots=True)
class PageFigures:
    """The figures of one page: how long it may still count, since when what it shows is so, and what is missing."""

    left_out: list[str | SafeString] = field(default_factory=list)
    is_counting: bool = False
    oldest: datetime | None = None
    _spent: float = 0.0

    def get(self, what: str, figure: Figure[Value]) -> Value | None:
        """Return the value of a figure that is cached or counted in time; else note that the page goes without it."""
        began = time.monotonic()
        counted = cache.get(figure) or cache.count_in_request(figure, (PAGE_SECONDS - self._spent) * _SHARE)
        self._spent += time.monotonic() - began
        if counted is None:
            self.is_counting = True
            self.left_out.append(f"{what}: still being counted.")
            return None
        if counted.value is None:
            again_at = timestamp(counted.fresh_until)
            self.left_out.append(format_html(_TOO_LONG, what, f"{BACKGROUND_SECONDS:g}", again_at))
        elif self.oldest is None or counted.at < self.oldest:
            self.oldest = counted.at
        return counted.value

    def prepare(self, figure: Figure[Any]) -> None:
        """Have a figure counted in the background for the next time that the page is loaded."""
        if cache.get(figure) is None:
            cache.count_in_background(figure)


class _Attempt(NamedTuple):
    """A figure that is queued for the background, and the seconds that counting it may take."""

    figure: Figure[Any]
    seconds: float

    @property
    def is_last(self) -> bool:
        return self.seconds >= BACKGROUND_SECONDS


class FigureCache:
    """The counted figures of a process, and the queue of those that its thread counts in the background."""

    def __init__(self, start: Callable[[Callable[[], None]], None]) -> None:
        """`start` calls a function in a thread."""
        self.start = start
        self._cached: TLRUCache[Hashable, Counted[Any]] = TLRUCache(
            _MOST_CACHED, ttu=lambda _, counted, now: now + counted.seconds_cached, timer=time.monotonic
        )
        self._in_requests: dict[Hashable, threading.Event] = {}
        self._queue: dict[Hashable, _Attempt] = {}
        self._lock = threading.Lock()
        self.is_running = False

    def get(self, figure: Figure[Value]) -> Counted[Value] | None:
        """Return a figure that this process has cached, or that others have shared. One that may be shown when it is
        stale is then counted again in the background."""
        counted = self._get_cached(figure)
        if counted is None and figure.is_shared:
            counted = self._get_shared(figure)
        if counted is None or counted.is_fresh:
            return counted
        if not counted.is_shown_when_stale:
            return None
        self.count_in_background(figure)
        return counted

    def count_in_request(self, figure: Figure[Value], seconds: float) -> Counted[Value] | None:
        """Count a figure, once for all requests that wait for it. Return None if that takes longer than this, and leave
        the figure to the background."""
        with self._lock:
            if figure.place in self._queue:
                return None
            other_request = self._in_requests.get(figure.place)
            if other_request is None:
                self._in_requests[figure.place] = threading.Event()
        if other_request is not None:
            other_request.wait(seconds)
            return self._get_cached(figure)
        try:
            counted = _count(figure, seconds)
            if counted.value is not None:
                self._put(figure, counted)
        finally:
            with self._lock:
                self._in_requests.pop(figure.place).set()
        if counted.value is None:
            self.count_in_background(figure)
            return None
        return counted

    def count_in_background(self, figure: Figure[Any]) -> None:
        """Queue a figure for the thread, which is started if it is not running."""
        with self._lock:
            if figure.place in self._queue or len(self._queue) >= _MOST_QUEUED:
                return
            self._queue[figure.place] = _Attempt(figure, min(_FIRST_ATTEMPT_SECONDS, BACKGROUND_SECONDS))
            is_to_be_started, self.is_running = not self.is_running, True
        if is_to_be_started:
            self.start(self._run)

    def clear(self) -> None:
        """Forget all figures that are cached in this process."""
        with self._lock:
            self._cached.clear()

    def _get_cached(self, figure: Figure[Value]) -> Counted[Value] | None:
        with self._lock:
            return self._cached.get(figure.place)

    def _get_shared(self, figure: Figure[Value]) -> Counted[Value] | None:
        """Return the figure as another process has counted it, and cache it."""
        row = CountedFigure.lately_counted(figure.name)
        if row is None or row.counted_at is None:
            return None
        try:
            value = None if row.value is None else msgspec.convert(row.value, figure.type, strict=False, str_keys=True)
        except msgspec.ValidationError:  # It was written by another version.
            return None
        counted: Counted[Value] = Counted(value, row.counted_at, row.seconds)
        self._put(figure, counted)
        return counted

    def _put(self, figure: Figure[Any], counted: Counted[Any]) -> None:
        with self._lock:
            self._cached[figure.place] = counted

    def _run(self) -> None:
        """Count queued figures in the thread until none is left."""
        while attempt := self._next_attempt():
            figure, is_done = attempt.figure, True
            try:
                is_done = self._carry_out(attempt)
            except (DatabaseError, InterfaceError) as error:
                _log.warning("a figure cannot be counted now: %s", " ".join(str(error).split()))
            except Exception:  # The thread must outlive a bug; pages do not depend on it.
                _log.exception("a figure was not counted")
            finally:
                with self._lock:
                    if is_done:
                        del self._queue[figure.place]
                    else:
                        self._queue[figure.place] = _Attempt(figure, BACKGROUND_SECONDS)

    def _next_attempt(self) -> _Attempt | None:
        """Return the attempt that may take the least time, of several the oldest. It stays in the queue until then."""
        with self._lock:
            attempt = min(self._queue.values(), key=lambda each: each.seconds, default=None)
            self.is_running = attempt is not None
            return attempt

    def _carry_out(self, attempt: _Attempt) -> bool:
        """Count a queued figure, unless another process does. False if there is a last attempt."""
        figure = attempt.figure
        with open_own_connections({DEFAULT_DB_ALIAS, figure.using}):
            if figure.is_shared:
                while not CountedFigure.claim(figure.name, timedelta(seconds=2 * BACKGROUND_SECONDS)):
                    if not attempt.is_last:
                        return False
                    time.sleep(_SECONDS_BETWEEN_CLAIMS)
                shared = self._get_shared(figure)
                if shared is not None and shared.is_fresh:
                    CountedFigure.release(figure.name)
                    return True
            counted = _count(figure, attempt.seconds, _MORE_MEMORY)
            is_done = attempt.is_last or counted.value is not None
            if is_done:
                self._put(figure, counted)
            if figure.is_shared:
                CountedFigure.release(figure.name, **(_columns(counted) if is_done else {}))
            return is_done


def _start_thread(run: Callable[[], None]) -> None:
    threading.Thread(target=run, name="figures", daemon=True).start()


cache = FigureCache(_start_thread)


def _count(figure: Figure[Value], seconds: float, setting: str = "") -> Counted[Value]:
    """Count a figure within these seconds, in a transaction with a setting."""
    began, value = time.monotonic(), None
    try:
        with time_limit(max(int(seconds * 1000), 1), figure.using), connections[figure.using].cursor() as cursor:
            if setting:
                cursor.execute(setting)
            value = figure.find(cursor)
    except TookTooLong:
        pass
    return Counted(value, timezone.now(), time.monotonic() - began)


def _columns(counted: Counted[Any]) -> dict[str, Any]:
    """Return the columns of a `CountedFigure`."""
    value = None if counted.value is None else msgspec.to_builtins(counted.value, str_keys=True)
    return {"value": value, "counted_at": counted.at, "seconds": counted.seconds}


@contextmanager
def open_own_connections(aliases: Iterable[str]) -> Iterator[None]:
    """Give this thread connections of its own: those of the pool are closed after some seconds of silence."""
    for alias in aliases:
        connections[alias] = own_connection(alias, "meadowlark-figures")
    try:
        yield
    finally:
        for alias in aliases:
            connections[alias].close()
            del connections[alias]
