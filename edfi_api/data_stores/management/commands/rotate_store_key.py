"""`rotate_store_key`: encrypt all connection strings again, with the first key of MEADOWLARK_STORE_KEY."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError

from edfi_api.data_stores.exceptions import ConnectionUnusable, NoStoreKey
from edfi_api.data_stores.management.commands.provision_data_store import in_one_line
from edfi_api.data_stores.stores import encrypt_again
from edfi_api.logs.printable import counted


class Command(BaseCommand):
    """See the module."""

    help = "Encrypts the connection strings of all data stores with the first of the keys; then the others can go."

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            number = encrypt_again()
        except (ConnectionUnusable, NoStoreKey) as error:
            raise CommandError(f"Nothing was changed. {in_one_line(error)}") from error
        self.stdout.write(f"{counted(number, 'connection string')} encrypted")
