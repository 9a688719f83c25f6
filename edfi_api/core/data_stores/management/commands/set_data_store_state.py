"""`set_data_store_state STORE online|readOnly|offline`: noticed by servers within MEADOWLARK_STORE_SECONDS."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError

from edfi_api.common.commands import ReportingCommand, name
from edfi_api.core.data_stores.models import DataStore, State
from edfi_api.core.data_stores.routing import NoSuchDataStore, described, store_named
from edfi_api.core.data_stores.routing_cache import read_table
from edfi_api.core.data_stores.stores import set_state


class Command(ReportingCommand):
    """See the module."""

    error_texts = {NoSuchDataStore: str}
    help = "Puts a data store online, makes it read-only, or takes it offline."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("data_store", type=name, help="id, name, or context of the data store")
        parser.add_argument(
            "state", choices=[State.ONLINE, State.READ_ONLY, State.OFFLINE], help="what requests may do"
        )

    def handle(self, *args: Any, data_store: str, state: str, **options: Any) -> None:
        store = store_named(data_store, read_table())
        if store.state is State.PREPARING:
            raise CommandError(f"{described(store)} is being prepared: provision_data_store makes it online.")
        set_state(DataStore.objects.get(pk=store.id), State(state))
        self.stdout.write(f"{described(store)}: {state}")
