"""The routing table of this process, which is replaced as a whole when data stores have changed.

It is read again if a client's token was looked up at a newer version, if `STORE_SECONDS` have passed, and if a request
finds no data store, at most once a second: one that was made is usable with the first request.
"""

import json
import time
from contextlib import suppress
from threading import Lock
from typing import Any

from django.db import DEFAULT_DB_ALIAS, DatabaseError, InterfaceError

from edfi_api.common.conf import api_settings
from edfi_api.core.data_stores.databases import remove
from edfi_api.core.data_stores.models import DataStore, DerivativeType, State
from edfi_api.core.data_stores.routing import Database, NamedTenant, RoutingTable, Store, context_of
from edfi_api.core.storage.database_state import database_state, discard
from edfi_api.core.storage.driver.execution import execute, run_with_retries
from edfi_api.core.storage.driver.sql import Sql, statements_of

_ROUTES = statements_of(__file__)("routes")
_VERSION = Sql("SELECT version FROM data_stores_version")
_SECONDS_BETWEEN_MISSES = 1
# Requests that run on an alias when it is retired end within this time; the limits of statements see to it.
_SECONDS_OF_RETIREMENT = 120


class RoutingCache:
    """The table of the admin database `using`, and when it was checked, by the monotonic clock."""

    def __init__(self, using: str) -> None:
        self._using = using
        self._lock = Lock()
        self._retired: dict[str, float] = {}
        self._table = read_table(using)
        self._checked_at = time.monotonic()

    def table(self, version: int = 0) -> RoutingTable:
        """The table, at least of this version."""
        seen = self._checked_at
        if version > self._table.version:
            self._check(seen)
        elif time.monotonic() - seen > api_settings.STORE_SECONDS:
            # While the admin database does not answer, the table at hand leads requests of known clients.
            with suppress(DatabaseError, InterfaceError):
                self._check(seen)
        return self._table

    def table_after_miss(self) -> RoutingTable:
        """The table, checked for changes within the last second."""
        seen = self._checked_at
        if time.monotonic() - seen >= _SECONDS_BETWEEN_MISSES:
            self._check(seen)
        return self._table

    def _check(self, seen: float) -> None:
        """Check whether the table has changed, unless another thread has checked since `seen`."""
        with self._lock:
            if self._checked_at != seen:
                return
            self._checked_at = time.monotonic()
            [(version,)] = run_with_retries(lambda: execute(_VERSION, self._using))
            if version != self._table.version:
                self._swap(read_table(self._using))

    def _swap(self, table: RoutingTable) -> None:
        gone = {each.alias for each in self._table.databases} - {each.alias for each in table.databases}
        self._table, now = table, time.monotonic()
        self._retired |= dict.fromkeys(gone, now)
        for alias in [alias for alias, since in self._retired.items() if now - since > _SECONDS_OF_RETIREMENT]:
            del self._retired[alias]
            remove(alias)
            discard(alias)


def routing_cache() -> RoutingCache:
    """The routing table of this process."""
    return database_state(DEFAULT_DB_ALIAS).value(RoutingCache)


def read_table(using: str = DEFAULT_DB_ALIAS) -> RoutingTable:
    """The table as the admin database has it now."""
    rows = run_with_retries(lambda: execute(_ROUTES, using))
    tenants = {id_: NamedTenant(id_, name) for _, id_, name, *_ in rows if id_ is not None}
    stores = [_store(tenants.get(tenant), *row) for _, tenant, _, *row in rows if row[0] is not None]
    return RoutingTable.of(rows[0][0], stores, tenants.values())


def store_at(using: str) -> Store | None:
    """The data store with this alias; None for that of another database."""
    return next((store for store in read_table().stores.values() if store.primary.alias == using), None)


def primary_of(store: DataStore) -> Database:
    """The database of a data store."""
    return _primary(store.pk, store.revision, store.connection)


def _primary(id_: int, revision: int, connection: str | None) -> Database:
    return Database(f"store_{id_}_{revision}", id_, connection)


def _store(tenant: NamedTenant | None, *columns: Any) -> Store:
    id_, name, state, revision, connection, contexts, derivatives = columns
    found: dict[DerivativeType, tuple[Database, ...]] = {}
    for number, type_, its_revision, its_connection in json.loads(derivatives):
        derivative = Database(f"store_{id_}_{its_revision}_r{number}", id_, its_connection)
        found[DerivativeType(type_)] = (*found.get(DerivativeType(type_), ()), derivative)
    pairs = json.loads(contexts)
    primary = _primary(id_, revision, connection)
    return Store(id_, tenant, name, State(state), context_of(pairs), dict(pairs), primary, found)
