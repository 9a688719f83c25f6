"""`assign_data_stores CLIENT STORE...`: exactly these are the data stores of the client from now on."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError

from edfi_api.common.commands import ReportingCommand, name
from edfi_api.common.logs import audit
from edfi_api.core.data_stores.routing import NoSuchDataStore, described
from edfi_api.core.security.clients import COMMAND
from edfi_api.core.security.management.named_client import client_named, stores_of_tenant


class Command(ReportingCommand):
    """See the module."""

    error_texts = {NoSuchDataStore: str}
    help = "Assigns data stores to an API client, in place of those that it has; none with --none."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("client", type=name, help="name or key of the client")
        parser.add_argument("data_stores", type=name, nargs="*", metavar="STORE", help="id, name, or context")
        parser.add_argument("--none", action="store_true", help="it has no data stores any more")

    def handle(self, *args: Any, client: str, data_stores: list[str], none: bool, **options: Any) -> None:
        if bool(data_stores) is none:
            raise CommandError("Say which data stores, or --none.")
        assigned = client_named(client)
        stores = stores_of_tenant(data_stores, assigned.application.vendor.tenant_id)
        assigned.data_stores.set([store.id for store in stores])
        audit.log_change(
            "data stores assigned", client=assigned.client_id, data_stores=[store.id for store in stores], by=COMMAND
        )
        self.stdout.write(f"{assigned.name}: {', '.join(map(described, stores)) or 'none'}")
