"""`push_changes NAME`: send the changes of documents to another Ed-Fi API, in the order of their commits."""

import logging
import threading
from argparse import ArgumentParser
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

from django.core.management.base import CommandError

from edfi_api.common.commands import ReportingCommand, integer, name
from edfi_api.common.conf import api_settings
from edfi_api.common.logs.printable import counted
from edfi_api.core.served import current_surface
from edfi_api.features.changes.change_stream.delivery import deliver_for_ever, deliver_once
from edfi_api.features.changes.change_stream.exceptions import ConsumerIsBusy
from edfi_api.features.exchange.capabilities import Capabilities
from edfi_api.features.exchange.management.exchange_commands import (
    ERRORS_OF_CONNECTIONS,
    add_trust,
    given_trust,
    stop_event,
)
from edfi_api.features.exchange.models import Connection, ExchangeDirection, Phase
from edfi_api.features.exchange.push.fix_up_hooks import FixUpHooks
from edfi_api.features.exchange.push.following import PushDelivery, send_whole
from edfi_api.features.exchange.push.readable import NothingToPush, ReadableDocuments
from edfi_api.features.exchange.push.sender import PushFigures, SegmentSender
from edfi_api.features.exchange.push.sent_documents import SentDocuments
from edfi_api.features.exchange.push.sent_refusals import SentRefusals
from edfi_api.features.exchange.push.target import Target
from edfi_api.features.exchange.remote_api import MOST_REPETITIONS, RemoteApi, RemoteFailed, RemoteStopped, Trust
from edfi_api.features.exchange.resource_selection import SelectionMode, selected, targets_of
from edfi_api.features.exchange.stored_connections import connection_named, database_of, report

_MOST_CONNECTIONS = 64

_REPETITIONS = 4
_log = logging.getLogger(__name__)


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


@dataclass(frozen=True, slots=True)
class PushOptions:
    """`connections` are requests at a time; `stop` is set when the process is to end."""

    connections: int
    trust: Trust
    are_denials_warnings: bool
    follows: bool
    stop: threading.Event


class Push:
    """Everything raises RemoteFailed, and ConnectionUnusable, UnknownResources and NotAMapping for the connection."""

    def __init__(self, connection: Connection, options: PushOptions) -> None:
        self._connection = connection
        self._options = options
        self._using = database_of(connection)
        self._sent = SentDocuments(connection.pk, self._using)
        self._mapping = connection.mapping
        # One that follows holds its position and tries again by itself.
        repetitions = _REPETITIONS if options.follows else MOST_REPETITIONS
        self._api = RemoteApi(connection, options.trust, options.connections, options.stop, repetitions=repetitions)

    def __enter__(self) -> Self:
        self._sender = SegmentSender(
            Target(self._api, self._mapping, self._connection.write_profile),
            self._sent,
            SentRefusals(self._connection),
            FixUpHooks(api_settings.CHANGE_HANDLERS),
            connections=self._options.connections,
            are_denials_warnings=self._options.are_denials_warnings,
        )
        return self

    def __exit__(self, *_: object) -> None:
        self._options.stop.set()
        self._sender.close()
        self._api.close()

    @property
    def figures(self) -> PushFigures:
        return self._sender.figures

    def ask_again(self) -> int:
        """All refused documents are to be sent again; how many these are."""
        return self._sent.ask_again()

    def run(self, *, is_full: bool) -> None:
        """Send everything, if wanted, and then what has changed. Raises ConsumerIsBusy, and NothingToPush."""
        delivery = PushDelivery(
            self._connection, self._sender, self._sent, self._readable, self._using, is_patient=self._options.follows
        )
        if is_full:
            with delivery:
                readable, send = self._readable(), delivery.send_until_answered
                delivery.move_to(send_whole(self._sender, self._sent, readable, send, self._using))
        if self._options.follows:
            deliver_for_ever([delivery], self._using)
        else:
            deliver_once([delivery], self._using)
            delivery.report_end()

    def _readable(self) -> ReadableDocuments:
        return ReadableDocuments(self._connection, self._paths, self._mapping, self._using)

    @cached_property
    def _paths(self) -> set[str]:
        """Return the paths of the selected resources, as far as the remote API has them."""
        surface = current_surface()
        paths = selected(SelectionMode(self._connection.selection), self._connection.resources, targets_of(surface))
        if not self._connection.with_descriptors:
            paths -= {each.url_path.strip("/") for each in surface.resources if each.is_descriptor}
        try:
            there = set(Capabilities.read(self._api).resources)
        except RemoteFailed as failure:
            _log.warning(
                "%s: every resource is sent, since the remote API does not say which it has: %s",
                self._connection,
                failure,
            )
            return paths
        if missing := sorted(paths - there):
            _log.warning(
                "%s: not sent, since the remote API does not have them: %s", self._connection, ", ".join(missing)
            )
        return paths & there
