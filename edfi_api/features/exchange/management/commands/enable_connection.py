"""`enable_connection NAME [--disable]`: let run_exchange follow a connection, or no longer."""

from argparse import ArgumentParser
from typing import Any

from edfi_api.common.commands import ReportingCommand, name
from edfi_api.core.security.clients import COMMAND
from edfi_api.features.exchange.management.exchange_commands import ERRORS_OF_CONNECTIONS
from edfi_api.features.exchange.stored_connections import connection_named, store_connection


class Command(ReportingCommand):
    """See the module."""

    error_texts = ERRORS_OF_CONNECTIONS
    help = "Lets run_exchange follow a connection. A running one notices it within seconds."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("name", type=name, help="name of the connection")
        parser.add_argument("--disable", action="store_true", help="let it no longer be followed")

    def handle(self, **options: Any) -> None:
        connection = connection_named(options["name"])
        connection.is_enabled = not options["disable"]
        store_connection(connection, None, COMMAND)
        self.stdout.write(f"{connection} is {'no longer ' if options['disable'] else ''}followed by run_exchange")
