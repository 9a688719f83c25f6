"""How many data stores lack migrations, which `migrate` reports for the control database that they belong to."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

from django.db import DEFAULT_DB_ALIAS, DatabaseError, InterfaceError, connections

from .databases import alias_of
from .exceptions import ConnectionUnusable
from .models import DataStoresVersion
from .provisioning_state import needed_migrations, pending_migrations
from .routes import read_table
from .routing import Store

# Each waits for one server at a time, 2 seconds at most to connect.
_THREADS = 16


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
    behind, away = sum(bool(each) for each in found), found.count(None)
    stdout.write(
        f"Data stores: {behind} of {len(stores)} are behind"
        + (f", {away} do not answer" if away else "")
        + ("; migrate_data_stores brings them up to date." if behind else ".")
    )


def _pending(store: Store) -> int | None:
    """How many migrations its database lacks; None if it does not answer."""
    try:
        using = alias_of(store.primary)
        try:
            return len(pending_migrations(using))
        finally:
            if using != DEFAULT_DB_ALIAS:
                connections[using].close()
    except (ConnectionUnusable, DatabaseError, InterfaceError):
        return None
