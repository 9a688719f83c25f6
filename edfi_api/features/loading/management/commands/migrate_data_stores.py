"""`migrate_data_stores [--plan]`: apply the migrations of this version to data stores.

Those that are up to date are skipped after one query. All are tried unless `--stop-at-first`; the exit status is 1 if
one failed. A repeated run does what is left.
"""

from argparse import ArgumentParser
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.db import DEFAULT_DB_ALIAS, DatabaseError, InterfaceError, connections

from edfi_api.common.commands import integer, text
from edfi_api.common.logs.printable import counted
from edfi_api.common.processes import process_pool
from edfi_api.core.data_stores.databases import alias_of
from edfi_api.core.data_stores.exceptions import ConnectionUnusable
from edfi_api.core.data_stores.provisioning_state import pending_migrations
from edfi_api.core.data_stores.routing import NoSuchDataStore, Store, described, stores_named
from edfi_api.core.data_stores.routing_cache import read_table
from edfi_api.features.loading.provisioning import migrate

_MOST_PROCESSES = 64


class Command(BaseCommand):
    """See the module."""

    help = "Applies the migrations of this version to all data stores that have a connection string."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--data-store", type=text, action="append", metavar="STORE", help="only this data store; repeatable"
        )
        parser.add_argument("--plan", action="store_true", help="only list what is pending")
        parser.add_argument("--stop-at-first", action="store_true", help="start no further ones after a failure")
        parser.add_argument(
            "--parallel", type=integer(1, _MOST_PROCESSES), default=4, metavar="N", help="at a time (default 4)"
        )

    def handle(
        self,
        *args: Any,
        data_store: list[str] | None,
        plan: bool,
        stop_at_first: bool,
        parallel: int,
        **options: Any,
    ) -> None:
        stores = _chosen(data_store)
        failed = []
        for store, outcome, is_failure in _planned(stores) if plan else _migrate_all(stores, parallel):
            self.stdout.write(f"{described(store)}: {outcome}")
            if is_failure:
                failed.append(described(store))
                if stop_at_first:
                    break
        if failed:
            raise CommandError(f"failed for {len(failed)} of {len(stores)} data stores: {'; '.join(failed)}")


Outcome = tuple[Store, str, bool]


def _chosen(named: list[str] | None) -> list[Store]:
    table = read_table()
    try:
        return stores_named(named, table) if named else list(table.stores.values())
    except NoSuchDataStore as error:
        raise CommandError(str(error)) from error


def _planned(stores: Iterable[Store]) -> Iterator[Outcome]:
    for store in stores:
        try:
            using = alias_of(store.primary)
            pending = len(pending_migrations(using))
            yield store, f"{pending} pending migrations" if pending else "up to date", False
        except (ConnectionUnusable, DatabaseError, InterfaceError) as error:
            yield store, _failure(error), True


def _migrate_all(stores: Iterable[Store], parallel: int) -> Iterator[Outcome]:
    """Yield the outcomes in order, of as many migrations at a time; no more are started than are consumed."""
    waiting = iter(stores)
    with process_pool(parallel) as pool:
        while batch := list(islice(waiting, parallel)):
            jobs = []
            for store in batch:
                try:
                    using = alias_of(store.primary)
                    databases = {name: connections.settings[name] for name in {DEFAULT_DB_ALIAS, using}}
                    jobs.append((store, pool.submit(_migrate, using, databases)))
                except ConnectionUnusable as error:
                    yield store, _failure(error), True
            for store, job in jobs:
                yield (store, *job.result())


def _migrate(using: str, databases: dict[str, dict[str, Any]]) -> tuple[str, bool]:
    """Migrate a database in another process, which has not registered the database."""
    connections.settings.update(databases)
    try:
        number = migrate(using)
    except (DatabaseError, InterfaceError, CommandError) as error:
        return _failure(error), True
    finally:
        connections.close_all()
    return (f"{counted(number, 'migration')} applied" if number else "up to date"), False


def _failure(error: Exception) -> str:
    reason = error.reason if isinstance(error, ConnectionUnusable) else " ".join(str(error).split())
    return f"failed: {reason}"
