"""`push_changes NAME`: send the changes of documents to another Ed-Fi API, in the order of their commits."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError

from edfi_api.common.arguments import integer, name
from edfi_api.common.commands import ReportingCommand
from edfi_api.common.logs.printable import counted
from edfi_api.features.changes.change_stream.exceptions import ConsumerIsBusy
from edfi_api.features.exchange.management.stopping import stop_event
from edfi_api.features.exchange.management.trust_options import ERRORS_OF_CONNECTIONS, add_trust, given_trust
from edfi_api.features.exchange.models import ExchangeDirection, Phase
from edfi_api.features.exchange.push.pushing import Push, PushOptions
from edfi_api.features.exchange.push.readable import NothingToPush
from edfi_api.features.exchange.remote_api import RemoteFailed, RemoteStopped
from edfi_api.features.exchange.stored_connections import connection_named, report

_MOST_CONNECTIONS = 64


class Command(ReportingCommand):
    """See the module."""

    error_texts = ERRORS_OF_CONNECTIONS
    help = (
        "Sends what has changed since the last time to the remote API of a connection. What it refuses is in the "
        "ledger of refusals, and is sent again when what it lacked has been accepted."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("name", type=name, help="name of the connection")
        parser.add_argument("--follow", action="store_true", help="wait for further changes, and for the remote API")
        parser.add_argument("--full", action="store_true", help="send all documents first, whatever was sent before")
        parser.add_argument("--retry", action="store_true", help="send all refused documents again")
        parser.add_argument(
            "--connections",
            type=integer(1, _MOST_CONNECTIONS),
            default=4,
            metavar="N",
            help="requests at a time (default 4)",
        )
        parser.add_argument(
            "--denials-are-warnings",
            action="store_true",
            help="do not count documents that the client may not write there among the refused ones",
        )
        add_trust(parser)

    def handle(self, **options: Any) -> None:
        with stop_event(interrupts=True) as stop:
            connection = connection_named(options["name"], ExchangeDirection.PUSH)
            given = PushOptions(
                options["connections"], given_trust(options), options["denials_are_warnings"], options["follow"], stop
            )
            try:
                with Push(connection, given) as push:
                    if options["retry"]:
                        push.ask_again()
                    push.run(is_full=options["full"])
            except (KeyboardInterrupt, RemoteStopped):
                report(connection, Phase.IDLE)
                return
            except RemoteFailed as failure:
                report(connection, Phase.FAILED, failure=str(failure))
                raise
            except ConsumerIsBusy as error:
                does = "sends again what was refused" if options["retry"] else "pushes the changes of this connection"
                raise CommandError(f"Another process {does}.") from error
            except NothingToPush as error:
                report(connection, Phase.FAILED, failure=error.reason)
                raise CommandError(error.reason) from error
        figures = push.figures
        denied = f", {figures.denied} denied" if figures.denied else ""
        written = counted(figures.written, "document")
        self.stdout.write(f"{written} written, {figures.deleted:,} deleted, {figures.refused:,} refused{denied}")
