"""`pull_changes NAME [--follow]`: write here what has changed at the remote API of a connection."""

from __future__ import annotations

import logging
import threading
import time
from argparse import ArgumentParser, ArgumentTypeError
from collections.abc import Callable
from typing import Any

from django.core.management.base import CommandError
from django.db import DatabaseError, InterfaceError, connections

from edfi_api.common.back_off import BackOff
from edfi_api.common.commands import ReportingCommand, integer, name, seconds
from edfi_api.common.logs.printable import counted, printable
from edfi_api.core.served import current_surface
from edfi_api.core.storage.driver.execution import is_outage
from edfi_api.features.exchange.management.exchange_commands import (
    ERRORS_OF_CONNECTIONS,
    add_trust,
    given_trust,
    stop_event,
)
from edfi_api.features.exchange.models import Connection, ExchangeDirection, Phase
from edfi_api.features.exchange.pull.outcomes import REFUSED, TooManyRefused
from edfi_api.features.exchange.pull.pulling import (
    DELETES_ALLOWED,
    AlreadyPulling,
    ClientUnusable,
    Pulled,
    Puller,
    PullOptions,
    TooManyDeletes,
    exclusively,
)
from edfi_api.features.exchange.pull.reading import PAGE_SIZE, RemoteSource
from edfi_api.features.exchange.remote_api import RemoteApi, RemoteFailed, RemoteStopped
from edfi_api.features.exchange.stored_connections import connection_named, database_of, report
from edfi_api.features.loading.load_options import add_processes
from edfi_api.features.loading.reports.report import refusal_limit

_MOST_VERSIONS = 2**53

# Between looks at a source with change queries, and full comparisons of one without.
INTERVAL, INTERVAL_OF_COMPARISONS = 0.5, 600.0
_FIRST_PAUSE, _LONGEST_PAUSE = 1.0, 60.0
_SECONDS_BETWEEN_REPORTS = 5.0

_log = logging.getLogger("meadowlark.exchange")


class Command(ReportingCommand):
    """See the module."""

    error_texts = {
        **ERRORS_OF_CONNECTIONS,
        TooManyDeletes: lambda error: f"{error}; --allow-deletes says how many may be deleted",
        AlreadyPulling: printable,
        ClientUnusable: printable,
        TooManyRefused: printable,
    }
    help = (
        "Reads what has changed at the remote API of a connection since the last time, and writes it here with the "
        "rights of the connection's API client, which owns it then. A run that was interrupted is simply repeated. "
        "Refused documents are in the ledger of refusals, and are read again later."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("name", type=name, help="name of the connection")
        parser.add_argument("--follow", action="store_true", help="go on until SIGTERM or Ctrl-C")
        parser.add_argument(
            "--full", action="store_true", help="read everything again, and delete what the remote API no longer has"
        )
        parser.add_argument(
            "--dry-run",
            action="store_true",
            help="report what would be written, and write nothing; of the client's rights only its claim set is asked",
        )
        parser.add_argument(
            "--adopt",
            action="store_true",
            help="also change documents that others own, which the connection's client owns then",
        )
        parser.add_argument(
            "--max-refused",
            type=refusal_limit,
            metavar="N",
            help="stop when more is refused, a number or a percentage such as 5%%; default: any number",
        )
        parser.add_argument(
            "--allow-deletes",
            type=_percentage,
            default=DELETES_ALLOWED,
            metavar="N%",
            help=f"how many documents a comparison of everything may delete (default {DELETES_ALLOWED:.0f}%%)",
        )
        parser.add_argument(
            "--connections", type=integer(1, 64), default=4, metavar="N", help="requests at once (default 4)"
        )
        parser.add_argument(
            "--page-size",
            type=integer(1, 10_000),
            default=PAGE_SIZE,
            metavar="N",
            help=f"documents in a page (default {PAGE_SIZE})",
        )
        parser.add_argument(
            "--overlap",
            type=integer(0, _MOST_VERSIONS),
            default=0,
            metavar="VERSIONS",
            help="read so many change versions again, if those of the source become visible out of order (default 0)",
        )
        parser.add_argument(
            "--position",
            type=integer(0, _MOST_VERSIONS),
            metavar="VERSION",
            help="go on after this change version of the source, in place of the position that is kept",
        )
        parser.add_argument("--use-snapshot", action="store_true", help="read from the snapshot of the remote API")
        parser.add_argument(
            "--interval",
            type=seconds,
            metavar="SECONDS",
            help=f"between two looks with --follow (default {INTERVAL:g}; ten minutes without change queries)",
        )
        add_processes(parser)
        add_trust(parser)

    def handle(self, **options: Any) -> None:
        with stop_event() as stop:
            connection = connection_named(options["name"], ExchangeDirection.PULL)
            using = database_of(connection)
            api = RemoteApi(connection, given_trust(options), options["connections"], stop)
            source = RemoteSource(
                connection,
                api,
                page_size=options["page_size"],
                threads=options["connections"],
                uses_snapshot=options["use_snapshot"],
            )
            with exclusively(connection, using), source:
                puller = Puller(connection, source, current_surface(), using, _pull_options(options))
                if options["follow"]:
                    follow(connection, puller, stop, options["interval"], self._print)
                else:
                    self._print(pull_once(connection, puller, is_dry_run=options["dry_run"]))
                    self._print_rest(source, options)

    def _print(self, pulled: Pulled) -> None:
        if pulled.outcomes is None:
            self.stdout.write("nothing has changed")
            return
        counts: dict[str, int] = {}
        for (_, outcome), count in pulled.outcomes.counts.items():
            counts[outcome] = counts.get(outcome, 0) + count
        said = ", ".join(f"{count:,} {outcome}" for outcome, count in sorted(counts.items())) or "nothing"
        up_to = "" if pulled.newest is None else f" up to change version {pulled.newest:,}"
        rate = f", {pulled.outcomes.sent / pulled.seconds:,.0f} documents/s" if pulled.seconds > 1 else ""
        self.stdout.write(f"{said}{up_to} in {pulled.seconds:.1f} s{rate}")
        if refused := pulled.outcomes.total(REFUSED):
            self.stdout.write(f"{counted(refused, 'document')} refused: see the ledger of refusals")

    def _print_rest(self, source: RemoteSource, options: dict[str, Any]) -> None:
        if source.not_readable:
            self.stderr.write(f"not readable there: {', '.join(map(printable, sorted(source.not_readable)))}")
        if options["dry_run"]:
            self.stdout.write("dry run: nothing was written")


def _pull_options(options: dict[str, Any]) -> PullOptions:
    if options["dry_run"] and options["follow"]:
        raise CommandError("--dry-run and --follow exclude each other.")
    if options["position"] is not None and (options["full"] or options["dry_run"]):
        raise CommandError("--position goes on from there: it excludes --full and --dry-run.")
    return PullOptions(
        is_full=options["full"],
        is_dry_run=options["dry_run"],
        adopts=options["adopt"],
        max_refused=options["max_refused"],
        deletes_allowed=options["allow_deletes"],
        overlap=options["overlap"],
        position=options["position"],
        processes=options["processes"],
    )


def _percentage(given: str) -> float:
    text = given.removesuffix("%")
    if not (text.isascii() and text.replace(".", "", 1).isdecimal()) or not 0 <= float(text) <= 100:
        raise ArgumentTypeError(f"{given!r} is not a percentage such as 50%")
    return float(text)


def pull_once(connection: Connection, puller: Puller, *, is_dry_run: bool = False) -> Pulled:
    """Pull one window, and report it unless it is a dry run. Raises what `Puller.pull` does."""
    if is_dry_run:
        return puller.pull()
    report(connection, Phase.RUNNING)
    try:
        pulled = puller.pull()
    except RemoteStopped:
        report(connection, Phase.IDLE)
        raise
    except Exception as error:
        report(connection, Phase.FAILED, failure=str(error) or repr(error))
        raise
    report_window(connection, puller, pulled, Phase.IDLE)
    return pulled


def follow(
    connection: Connection,
    puller: Puller,
    stop: threading.Event,
    interval: float | None,
    on_window: Callable[[Pulled], None],
) -> None:
    """Pull until `stop` is set. Raises ClientUnusable, TooManyRefused and TooManyDeletes, which only people can solve,
    and AlreadyPulling if another process has begun to work for the connection during an outage of the database.
    """
    reported_at, has_lost_session = 0.0, False
    back_off = BackOff(_FIRST_PAUSE, _LONGEST_PAUSE)
    while not stop.is_set():
        try:
            if has_lost_session:
                puller.take_lock_again()
                has_lost_session = False
            pulled = puller.pull()
            if pulled.outcomes is not None or time.monotonic() - reported_at > _SECONDS_BETWEEN_REPORTS:
                report_window(connection, puller, pulled, Phase.RUNNING)
                reported_at = time.monotonic()
            if pulled.outcomes is not None:
                on_window(pulled)
            back_off.reset()
        except RemoteStopped:
            break
        except (ClientUnusable, TooManyRefused, TooManyDeletes) as error:
            report(connection, Phase.FAILED, failure=str(error))
            raise
        except (RemoteFailed, DatabaseError, InterfaceError) as error:
            if not isinstance(error, RemoteFailed) and not is_outage(error):
                raise
            has_lost_session |= not isinstance(error, RemoteFailed)
            _wait_behind(connection, error, back_off.pause(), stop)
            reported_at = 0.0
            continue
        stop.wait(interval or (INTERVAL_OF_COMPARISONS if pulled.newest is None else INTERVAL))
    report(connection, Phase.IDLE)


def report_window(connection: Connection, puller: Puller, pulled: Pulled, phase: Phase) -> None:
    """What a window has brought."""
    outcomes = pulled.outcomes
    sent, refused = (outcomes.sent, outcomes.total(REFUSED)) if outcomes else (0, 0)
    report(
        connection,
        phase,
        position=puller.position,
        newest=pulled.newest,
        accepted=sent - refused,
        refused=outcomes.newly_refused if outcomes else 0,
        rate=sent / pulled.seconds if sent and pulled.seconds else None,
    )


def _wait_behind(connection: Connection, error: Exception, pause: float, stop: threading.Event) -> None:
    reason = " ".join(str(error).split())
    _log.warning("connection %s waits %.0f s: %s", connection, pause, reason)
    try:
        report(connection, Phase.WAITING, failure=reason)
    except (DatabaseError, InterfaceError):
        connections.close_all()
    if not isinstance(error, RemoteFailed):
        connections.close_all()
    stop.wait(pause)
