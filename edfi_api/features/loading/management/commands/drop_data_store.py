"""`drop_data_store STORE --yes NAME`: the data store is no longer served; its database stays.

With `--with-database` the database goes too, after a last export of its documents.
"""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management import call_command
from django.core.management.base import CommandError
from django.db import DatabaseError

from edfi_api.common.commands import ReportingCommand, name, path
from edfi_api.core.data_stores.databases import alias_of
from edfi_api.core.data_stores.exceptions import ConnectionUnusable
from edfi_api.core.data_stores.models import DataStore
from edfi_api.core.data_stores.routing import NoSuchDataStore, RoutingTable, Store, described, store_named
from edfi_api.core.data_stores.routing_cache import read_table
from edfi_api.core.data_stores.stores import remove_data_store
from edfi_api.features.loading.provisioning import drop_database, other_user, reason


class Command(ReportingCommand):
    """See the module."""

    error_texts = {
        NoSuchDataStore: str,
        ConnectionUnusable: lambda error: f"Its connection string cannot be used: {error.reason}.",
    }
    help = (
        "Removes a data store with its assignments to clients. Its database is left as it is, unless --with-database: "
        "then it is dropped, with everything in it, after a last export."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("data_store", type=name, help="id, name, or context of the data store")
        parser.add_argument("--yes", type=name, required=True, metavar="NAME", help="the name of the data store again")
        parser.add_argument("--with-database", action="store_true", help="drop the database too")
        last = parser.add_mutually_exclusive_group()
        last.add_argument("--export", type=path, metavar="FOLDER", help="where the last export goes")
        last.add_argument("--no-export", action="store_true", help="drop the database without an export")

    def handle(
        self,
        *args: Any,
        data_store: str,
        yes: str,
        with_database: bool,
        export: Path | None,
        no_export: bool,
        **options: Any,
    ) -> None:
        table = read_table()
        store = store_named(data_store, table)
        if store.name != yes:
            raise CommandError(f'The name of data store {store.id} is not "{yes}".')
        if with_database is not (export is not None or no_export):
            raise CommandError("With --with-database say --export FOLDER, or --no-export; without it neither.")
        using = _droppable(store, table) if with_database else None
        if using is not None and export is not None:
            call_command("export_documents", database=using, output=str(export), stderr=self.stderr)
        remove_data_store(DataStore.objects.get(pk=store.id))
        self.stdout.write(f"{described(store)}: removed")
        if using is not None:
            self._drop(using)

    def _drop(self, using: str) -> None:
        try:
            drop_database(using)
        except DatabaseError as error:
            raise CommandError(f"Its database is still there: {reason(error)}") from error
        self.stdout.write("database dropped")


def _droppable(store: Store, table: RoutingTable) -> str:
    """The alias of its database, which no other data store uses."""
    using = alias_of(store.primary)
    if user := other_user(using, table):
        raise CommandError(f"Its database is {user}.")
    return using
