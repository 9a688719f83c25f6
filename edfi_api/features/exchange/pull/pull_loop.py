"""Pulls window after window, and tells people how it goes: once, or until the process is stopped.

While the remote API or a database does not answer, it waits, twice as long each time, up to a minute.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable

from django.db import DatabaseError, InterfaceError, connections

from edfi_api.common.back_off import BackOff
from edfi_api.core.storage.driver.exceptions import is_outage
from edfi_api.features.exchange.models import Connection, Phase
from edfi_api.features.exchange.pull.outcomes import REFUSED, TooManyRefused
from edfi_api.features.exchange.pull.pulling import ClientUnusable, Pulled, Puller, TooManyDeletes
from edfi_api.features.exchange.remote_api import RemoteFailed, RemoteStopped
from edfi_api.features.exchange.stored_connections import report

# Between looks at a source with change queries, and full comparisons of one without.
INTERVAL, INTERVAL_OF_COMPARISONS = 0.5, 600.0
_FIRST_PAUSE, _LONGEST_PAUSE = 1.0, 60.0
_SECONDS_BETWEEN_REPORTS = 5.0

_log = logging.getLogger("meadowlark.exchange")


def pull_once(connection: Connection, puller: Puller, *, is_dry_run: bool = False) -> Pulled:
    """One window, reported unless it is a dry run. Raises what `Puller.pull` does."""
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
