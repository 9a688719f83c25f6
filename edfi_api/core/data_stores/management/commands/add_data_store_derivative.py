"""`add_data_store_derivative STORE ReadReplica --env VARIABLE`: another database with the data of a data store."""

from argparse import ArgumentParser
from typing import Any

from edfi_api.common.commands import ReportingCommand, name
from edfi_api.core.data_stores.data_store_command import (
    ERRORS_OF_STORES,
    add_connection,
    given_connection,
)
from edfi_api.core.data_stores.models import DataStore, DerivativeType
from edfi_api.core.data_stores.routing import described, store_named
from edfi_api.core.data_stores.routing_cache import read_table
from edfi_api.core.data_stores.stores import add_derivative


class Command(ReportingCommand):
    """See the module."""

    error_texts = ERRORS_OF_STORES
    help = (
        "Adds a streaming replica, which answers requests for collections, or a snapshot, which answers requests with "
        "the header Use-Snapshot: true; the newest one counts."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("data_store", type=name, help="id, name, or context of the data store")
        parser.add_argument("type", choices=DerivativeType.values, help="a streaming replica, or a snapshot")
        add_connection(parser, required=True)

    def handle(self, *args: Any, data_store: str, type: str, **options: Any) -> None:
        store = store_named(data_store, read_table())
        connection = given_connection(options) or ""
        add_derivative(DataStore.objects.get(pk=store.id), DerivativeType(type), connection)
        self.stdout.write(f"{described(store)}: {type} added")
