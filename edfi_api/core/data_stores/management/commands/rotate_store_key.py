"""`rotate_store_key`: encrypt all connection strings, and the secrets of connections to other APIs, again with the
first key of MEADOWLARK_STORE_KEY."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.db import transaction

from edfi_api.common.logs.printable import counted
from edfi_api.core.data_stores.exceptions import ConnectionUnusable, NoStoreKey
from edfi_api.core.data_stores.stores import encrypt_again
from edfi_api.features.exchange.stored_connections import encrypt_secrets_again
from edfi_api.features.loading.management.commands.provision_data_store import in_one_line


class Command(BaseCommand):
    """See the module."""

    help = (
        "Encrypts the connection strings of all data stores, and the secrets of connections to other APIs, with the "
        "first of the keys; then the others can go."
    )

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            with transaction.atomic():
                number, secrets = encrypt_again(), encrypt_secrets_again()
        except (ConnectionUnusable, NoStoreKey) as error:
            raise CommandError(f"Nothing was changed. {in_one_line(error)}") from error
        of_connections = f", {counted(secrets, 'secret')} of connections" if secrets else ""
        self.stdout.write(f"{counted(number, 'connection string')}{of_connections} encrypted")
