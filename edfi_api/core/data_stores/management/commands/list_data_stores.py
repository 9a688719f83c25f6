"""`list_data_stores [--check]`: one line for each data store."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand
from django.db import DEFAULT_DB_ALIAS, connections

from edfi_api.core.data_stores.databases import alias_of
from edfi_api.core.data_stores.exceptions import ConnectionUnusable
from edfi_api.core.data_stores.routing import Store, full_name
from edfi_api.core.data_stores.routing_cache import read_table
from edfi_api.core.data_stores.status import read_status


class Command(BaseCommand):
    """See the module."""

    help = "Lists the data stores: id, name, context, state and database; with --check also size and migrations."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--check", action="store_true", help="connect to each")

    def handle(self, *args: Any, check: bool, **options: Any) -> None:
        for store in sorted(read_table().stores.values(), key=lambda store: store.id):
            context = ",".join(f"{key}={value}" for key, value in store.context_as_written.items()) or "-"
            self.stdout.write(
                "  ".join([str(store.id), full_name(store), context, store.state, *_database(store, check)])
            )


def _database(store: Store, check: bool) -> list[str]:
    """Host and database, never user and password."""
    try:
        using = alias_of(store.primary)
    except ConnectionUnusable as error:
        return [f"unusable: {error.reason}"]
    settings = connections.settings[using]
    where = "main" if using == DEFAULT_DB_ALIAS else f"{settings['HOST'] or 'local socket'}/{settings['NAME']}"
    return [where, *(_checked(store) if check else [])]


def _checked(store: Store) -> list[str]:
    status = read_status(store.primary)
    if not status.answers:
        return [f"does not answer: {status.reason}"]
    pending = f"{status.pending_migrations} pending migrations" if status.pending_migrations else "all migrations"
    return [f"{(status.size or 0) / 2**20:.0f} MB", pending]
