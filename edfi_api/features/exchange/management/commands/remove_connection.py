"""`remove_connection NAME`: remove a connection, its position, and what waits for it. Documents stay as they are."""

from argparse import ArgumentParser
from typing import Any

from edfi_api.common.commands import ReportingCommand, name
from edfi_api.common.logs import audit
from edfi_api.core.security.clients import COMMAND
from edfi_api.features.exchange.management.exchange_commands import ERRORS_OF_CONNECTIONS
from edfi_api.features.exchange.stored_connections import connection_named


class Command(ReportingCommand):
    """See the module."""

    error_texts = ERRORS_OF_CONNECTIONS
    help = (
        "Removes a connection to another API, with its position, its consumer of the change stream and what waits to "
        "be read or sent again. Documents stay as they are, on both sides."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("name", type=name, help="name of the connection")

    def handle(self, **options: Any) -> None:
        connection = connection_named(options["name"])
        connection.delete()
        audit.log_change("connection removed", **connection.audit_facts, by=COMMAND)
        self.stdout.write(f"{connection} removed")
