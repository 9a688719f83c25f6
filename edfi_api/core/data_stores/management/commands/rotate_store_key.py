"""`rotate_store_key`: encrypt all connection strings, and what else is encrypted, again with the first key of
MEADOWLARK_STORE_KEY."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.db import transaction

from edfi_api.common.contributions import contributions
from edfi_api.common.logs.printable import counted
from edfi_api.core.data_stores.command_options import in_one_line
from edfi_api.core.data_stores.exceptions import ConnectionUnusable, NoStoreKey
from edfi_api.core.data_stores.stores import encrypt_again


class Command(BaseCommand):
    """See the module."""

    help = (
        "Encrypts the connection strings of all data stores, and the secrets of connections to other APIs, with the "
        "first of the keys; then the others can go."
    )

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            with transaction.atomic():
                number = encrypt_again()
                others = [encrypt() for encrypt in contributions("encrypted_columns")]
        except (ConnectionUnusable, NoStoreKey) as error:
            raise CommandError(f"Nothing was changed. {in_one_line(error)}") from error
        also = "".join(f", {text}" for text in others if text)
        self.stdout.write(f"{counted(number, 'connection string')}{also} encrypted")
