"""The lease that a request takes of the database of a data store: whether it can be used, and how it went.

A database that does not answer, or is slow, is kept from occupying all threads of the process: after two outages in a
row its requests are refused without touching the network. Some seconds later one request may try, while the others are
still refused; if it succeeds, all are let through again.
"""

import logging
import random
import time
from collections.abc import Iterator
from contextlib import suppress
from threading import Lock
from types import TracebackType
from typing import Self

from django.db import DEFAULT_DB_ALIAS, OperationalError
from psycopg import errors

from edfi_api.common.conf import api_settings
from edfi_api.core.data_stores.databases import alias_of, has_met_an_error, is_connected
from edfi_api.core.data_stores.exceptions import (
    ConnectionUnusable,
    DataStoreReadOnly,
    DataStoreUnavailable,
    NotProvisioned,
    SnapshotNotFound,
    SnapshotReadOnly,
)
from edfi_api.core.data_stores.models import DerivativeType, State
from edfi_api.core.data_stores.provisioning_state import Provisioned
from edfi_api.core.data_stores.routing import Store
from edfi_api.core.data_stores.stores import refuse_other_tenants_database
from edfi_api.core.storage.database_state import Replicas, database_state
from edfi_api.core.storage.driver.execution import is_outage

# Seconds; an operator takes it offline for longer than a failover takes.
_RETRY_AFTER_OFFLINE = 60

_OUTAGES = 2
_SECONDS = 5.0
_JITTER = 0.2
# Requests that are quicker are never limited, however many there are.
_SLOW_SECONDS = 1.0
_RETRY_AFTER_BUSY = 1

_log = logging.getLogger(__name__)


class Lease:
    """A request's use of a database, which ends once; `using` is its alias."""

    def __init__(self, using: str) -> None:
        self.using = using

    def note_failure(self, error: BaseException) -> None:
        """Take note of an error of the request."""

    def end(self) -> None:
        """End the lease: the request has been answered."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if error is not None:
            self.note_failure(error)
        self.end()


DEFAULT_LEASE = Lease(DEFAULT_DB_ALIAS)


class StoreLease(Lease):
    """The use of a database that a data store has for itself, whose outages and load must not concern others.

    Raises DataStoreUnavailable, and NotProvisioned or Django's OperationalError at the first lease of the process.
    """

    def __init__(self, using: str, *, is_limited: bool) -> None:
        super().__init__(using)
        self._has_failed = False
        kept = database_state(using)
        self._breaker, self._load = kept.value(Breaker), kept.value(Load)
        if is_limited:
            self._load.check()
        self._breaker.check()
        self._load.begin(self)
        try:
            kept.value(Provisioned)
        except BaseException as error:
            self.note_failure(error)
            self.end()
            raise

    def note_failure(self, error: BaseException) -> None:
        # The admin database or a replica may have failed.
        if is_failure(error) and has_met_an_error(self.using):
            self._has_failed = True
            self._breaker.note_outage()

    def end(self) -> None:
        self._load.end(self)
        if self._has_failed:
            return
        if is_connected(self.using):
            self._breaker.note_answer()
        else:
            self._breaker.note_unused()


def lease(store: Store, *, is_write: bool, is_limited: bool = True) -> Lease:
    """Begin a lease of the primary database of a data store; without `is_limited` any number of requests may wait for
    it.

    Raises ConnectionUnusable, DataStoreReadOnly, and what `StoreLease` does.
    """
    _check_state(store, is_write)
    alias = alias_of(store.primary)
    if alias == DEFAULT_DB_ALIAS:
        refuse_other_tenants_database(alias, store)
        return DEFAULT_LEASE
    begun = _begun(store, alias, is_limited=is_limited)
    database_state(alias).value(Replicas).aliases = tuple(_replicas(store))
    return begun


def lease_snapshot(store: Store, *, is_write: bool, is_limited: bool) -> Lease:
    """Return the lease of the newest snapshot of a data store. Raises what `lease` raises, SnapshotReadOnly and
    SnapshotNotFound.
    """
    if is_write:
        raise SnapshotReadOnly
    _check_state(store, is_write)
    snapshots = store.derivatives.get(DerivativeType.SNAPSHOT)
    if not snapshots:
        raise SnapshotNotFound
    return _begun(store, alias_of(snapshots[-1]), is_limited=is_limited)


def _begun(store: Store, alias: str, *, is_limited: bool) -> StoreLease:
    begun = StoreLease(alias, is_limited=is_limited)
    try:
        refuse_other_tenants_database(alias, store)
    except BaseException as error:
        begun.note_failure(error)
        begun.end()
        raise
    return begun


def _replicas(store: Store) -> Iterator[str]:
    """Yield the aliases of the replicas, without those whose connection string cannot be used; `check_data_stores`
    lists them.
    """
    for replica in store.derivatives.get(DerivativeType.READ_REPLICA, ()):
        with suppress(ConnectionUnusable):
            yield alias_of(replica)


def _check_state(store: Store, is_write: bool) -> None:
    match store.state:
        case State.PREPARING:
            raise NotProvisioned
        case State.OFFLINE:
            raise DataStoreUnavailable(_RETRY_AFTER_OFFLINE, "offline")
        case State.READ_ONLY if is_write:
            raise DataStoreReadOnly


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

    def note_outage(self) -> None:
        """A request met an outage."""
        with self._lock:
            was_open, self._outages = self.is_open, self._outages + 1
            self._open_until = time.monotonic() + _SECONDS * random.uniform(1 - _JITTER, 1 + _JITTER)  # noqa: S311
            self._is_probing = False
        if self.is_open and not was_open:
            _log.warning("The database %s does not answer; its requests are refused.", self._using)

    def note_answer(self) -> None:
        """A request was answered."""
        if not self._outages:
            return
        with self._lock:
            was_open, self._outages, self._is_probing = self.is_open, 0, False
        if was_open:
            _log.warning("The database %s answers again.", self._using)

    def note_unused(self) -> None:
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
    """Return whether the error is an outage, and not the limit of a single statement."""
    is_limit = isinstance(error, OperationalError) and isinstance(
        error.__cause__, errors.QueryCanceled | errors.LockNotAvailable
    )
    return is_outage(error) and not is_limit
