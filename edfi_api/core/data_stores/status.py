"""What the databases of data stores answer about themselves, for operators, and after `migrate` how many lack
migrations."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

from django.db import DEFAULT_DB_ALIAS, DatabaseError, InterfaceError, connections

from edfi_api.core.data_stores.access import Breaker
from edfi_api.core.data_stores.databases import alias_of
from edfi_api.core.data_stores.exceptions import ConnectionUnusable
from edfi_api.core.data_stores.models import DataStoresVersion
from edfi_api.core.data_stores.provisioning_state import needed_migrations, pending_migrations
from edfi_api.core.data_stores.routing import Database, Store
from edfi_api.core.data_stores.routing_cache import read_table
from edfi_api.core.storage.database_state import known_database_state

# Each waits for one server at a time, 2 seconds at most to connect.
_THREADS = 16
_SIZE = "SELECT pg_database_size(current_database())"


@dataclass(frozen=True, slots=True)
class StoreStatus:
    """`size` is in bytes. Of a database that does not answer, `reason` says why, and there is nothing else."""

    pending_migrations: int | None = None
    size: int | None = None
    reason: str | None = None

    @property
    def answers(self) -> bool:
        return self.reason is None


def read_status(database: Database) -> StoreStatus:
    """Connect to the database, which takes 2 seconds at most, and close the connection."""
    try:
        using = alias_of(database)
    except ConnectionUnusable as error:
        return StoreStatus(reason=f"its connection string cannot be used: {error.reason}")
    try:
        pending = len(pending_migrations(using))
        with connections[using].cursor() as cursor:
            cursor.execute(_SIZE)
            [(size,)] = cursor.fetchall()
    except (DatabaseError, InterfaceError) as error:
        return StoreStatus(reason=" ".join(str(error).split()))
    finally:
        if using != DEFAULT_DB_ALIAS:
            connections[using].close()
    return StoreStatus(pending, size)


def is_refused(database: Database) -> bool:
    """Return whether this process refuses requests for the database without connecting, because it did not answer."""
    kept = known_database_state(database.alias)
    breaker = kept.kept(Breaker) if kept else None
    return breaker is not None and breaker.is_open


def report(using: str, verbosity: int, stdout: Any = None, **_: Any) -> None:
    """A receiver of `post_migrate`. Writes nothing if there are no data stores."""
    if using != DEFAULT_DB_ALIAS or verbosity < 1 or stdout is None:
        return
    if DataStoresVersion._meta.db_table not in connections[using].introspection.table_names():
        return  # The migrations of data stores have been reverted.
    stores = list(read_table().stores.values())
    if not stores:
        return
    needed_migrations()  # Once, before the threads need it.
    with ThreadPoolExecutor(_THREADS) as pool:
        found = list(pool.map(_pending, stores))
    outdated, away = sum(bool(each) for each in found), found.count(None)
    stdout.write(
        f"Data stores: {outdated} of {len(stores)} are behind"
        + (f", {away} do not answer" if away else "")
        + ("; migrate_data_stores brings them up to date." if outdated else ".")
    )


def _pending(store: Store) -> int | None:
    """Return how many migrations its database lacks; None if it does not answer."""
    try:
        using = alias_of(store.primary)
        try:
            return len(pending_migrations(using))
        finally:
            if using != DEFAULT_DB_ALIAS:
                connections[using].close()
    except (ConnectionUnusable, DatabaseError, InterfaceError):
        return None
