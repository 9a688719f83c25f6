"""Keeps a database that does not answer, or is slow, from occupying all threads of a process.

After two outages in a row its requests are refused without touching the network. Some seconds later one request may
try, while the others are still refused; if it succeeds, all are let through again.
"""

import logging
import random
import time
from threading import Lock

from django.db import OperationalError
from psycopg import errors

from edfi_api.common.conf import api_settings
from edfi_api.core.data_stores.exceptions import DataStoreUnavailable
from edfi_api.core.storage.driver.exceptions import is_outage

_OUTAGES = 2
_SECONDS = 5.0
_JITTER = 0.2
# Requests that are quicker are never limited, however many there are.
_SLOW_SECONDS = 1.0
_RETRY_AFTER_BUSY = 1

_log = logging.getLogger(__name__)


class Breaker:
    """The circuit breaker of one database in this process."""

    def __init__(self, using: str) -> None:
        self._using = using
        self._lock = Lock()
        self._outages = 0
        self._open_until = 0.0
        self._is_probing = False

    @property
    def is_open(self) -> bool:
        return self._outages >= _OUTAGES

    def check(self) -> None:
        """Raises DataStoreUnavailable while the breaker is open, except for one request that probes the database."""
        if not self.is_open:
            return
        with self._lock:
            if self._is_probing or time.monotonic() < self._open_until:
                raise DataStoreUnavailable(int(_SECONDS), "open")
            self._is_probing = True

    def failed(self) -> None:
        """A request met an outage."""
        with self._lock:
            was_open, self._outages = self.is_open, self._outages + 1
            self._open_until = time.monotonic() + _SECONDS * random.uniform(1 - _JITTER, 1 + _JITTER)  # noqa: S311
            self._is_probing = False
        if self.is_open and not was_open:
            _log.warning("The database %s does not answer; its requests are refused.", self._using)

    def succeeded(self) -> None:
        """A request was answered."""
        if not self._outages:
            return
        with self._lock:
            was_open, self._outages, self._is_probing = self.is_open, 0, False
        if was_open:
            _log.warning("The database %s answers again.", self._using)

    def gave_up(self) -> None:
        """A request ended before it used the database, so it proves nothing."""
        if self.is_open:
            with self._lock:
                self._is_probing = False


class Load:
    """The requests under way on one database in this process. Each access is a single dictionary operation, so threads
    need no lock; two that begin at the same time may both be let in."""

    def __init__(self, _using: str) -> None:
        self._begun: dict[int, float] = {}

    def check(self) -> None:
        """Raises DataStoreUnavailable while too many requests have been under way for too long."""
        most = max(1, int(api_settings.STORE_SHARE * api_settings.THREADS))
        if len(self._begun) < most:
            return
        late = time.monotonic() - _SLOW_SECONDS
        if sum(begun < late for begun in list(self._begun.values())) >= most:
            raise DataStoreUnavailable(_RETRY_AFTER_BUSY, "busy")

    def begin(self, request: object) -> None:
        self._begun[id(request)] = time.monotonic()

    def end(self, request: object) -> None:
        self._begun.pop(id(request), None)


def is_failure(error: BaseException) -> bool:
    """Whether the error is an outage, and not the limit of a single statement."""
    is_limit = isinstance(error, OperationalError) and isinstance(
        error.__cause__, errors.QueryCanceled | errors.LockNotAvailable
    )
    return is_outage(error) and not is_limit
