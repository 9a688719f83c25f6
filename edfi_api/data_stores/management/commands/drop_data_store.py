"""`drop_data_store STORE --yes NAME`: the data store is no longer served; its database stays."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from edfi_api.data_stores.models import DataStore
from edfi_api.data_stores.named import NoSuchDataStore, described, store_named
from edfi_api.data_stores.routes import read_table
from edfi_api.data_stores.stores import remove_data_store
from edfi_api.management.arguments import name


class Command(BaseCommand):
    """See the module."""

    help = "Removes a data store with its assignments to clients. Its database is left as it is."
    requires_system_checks = ()

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("data_store", type=name, help="id, name, or context")
        parser.add_argument("--yes", type=name, required=True, metavar="NAME", help="its name again")

    def handle(self, *args: Any, data_store: str, yes: str, **options: Any) -> None:
        try:
            store = store_named(data_store, read_table())
        except NoSuchDataStore as error:
            raise CommandError(str(error)) from error
        if store.name != yes:
            raise CommandError(f'The name of data store {store.id} is not "{yes}".')
        remove_data_store(DataStore.objects.get(pk=store.id))
        self.stdout.write(f"{described(store)}: removed")
