"""`add_data_store_derivative STORE ReadReplica --env VARIABLE`: another database with the data of a data store."""

from argparse import ArgumentParser
from typing import Any

from django.core.exceptions import ValidationError
from django.core.management.base import BaseCommand, CommandError

from edfi_api.common.arguments import name
from edfi_api.core.data_stores.command_options import (
    add_connection,
    given_connection,
    in_one_line,
)
from edfi_api.core.data_stores.exceptions import ConnectionUnusable, NoStoreKey
from edfi_api.core.data_stores.models import DataStore, DerivativeType
from edfi_api.core.data_stores.named import NoSuchDataStore, described, store_named
from edfi_api.core.data_stores.routes import read_table
from edfi_api.core.data_stores.stores import add_derivative


class Command(BaseCommand):
    """See the module."""

    help = (
        "Adds a streaming replica, which answers requests for collections, or a snapshot, which answers requests with "
        "the header Use-Snapshot: true; the newest one counts."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("data_store", type=name, help="id, name, or context of the data store")
        parser.add_argument("type", choices=DerivativeType.values, help="a streaming replica, or a snapshot")
        add_connection(parser, required=True)

    def handle(self, *args: Any, data_store: str, type: str, **options: Any) -> None:
        try:
            store = store_named(data_store, read_table())
            connection = given_connection(options) or ""
            add_derivative(DataStore.objects.get(pk=store.id), DerivativeType(type), connection)
        except NoSuchDataStore as error:
            raise CommandError(str(error)) from error
        except (ValidationError, NoStoreKey, ConnectionUnusable) as error:
            raise CommandError(in_one_line(error)) from error
        self.stdout.write(f"{described(store)}: {type} added")
