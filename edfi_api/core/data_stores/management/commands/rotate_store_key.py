"""`rotate_store_key`: encrypt all connection strings, and what else is encrypted, again with the first key of
MEADOWLARK_STORE_KEY."""

from typing import Any

from django.db import transaction

from edfi_api.common.commands import ReportingCommand, text_of
from edfi_api.common.contributions import contributions
from edfi_api.common.logs.printable import counted
from edfi_api.core.data_stores.data_store_command import ERRORS_OF_STORES
from edfi_api.core.data_stores.stores import encrypt_again


def _text(error: Exception) -> str:
    return f"Nothing was changed. {text_of(error, ERRORS_OF_STORES)}"


class Command(ReportingCommand):
    """See the module."""

    error_texts = dict.fromkeys(ERRORS_OF_STORES, _text)
    help = (
        "Encrypts the connection strings of all data stores, and the secrets of connections to other APIs, with the "
        "first of the keys; then the others can go."
    )

    def handle(self, *args: Any, **options: Any) -> None:
        with transaction.atomic():
            number = encrypt_again()
            others = [encrypt() for encrypt in contributions("encrypted_columns")]
        also = "".join(f", {text}" for text in others if text)
        self.stdout.write(f"{counted(number, 'connection string')}{also} encrypted")
