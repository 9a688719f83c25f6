"""Processes changes continuously: waits for notifications, and retries after outages of the database."""

import logging
import time
from collections.abc import Callable
from typing import Protocol

from django.db import DEFAULT_DB_ALIAS, DatabaseError, InterfaceError, connections

from edfi_api.changes.change_stream.listening import ChangeListener
from edfi_api.changes.change_stream.reading import Newest
from edfi_api.storage.exceptions import is_outage

log = logging.getLogger(__name__)

# While changes keep coming, they are polled at this interval instead of waiting for notifications, which cost writers.
_PAUSE_SECONDS = 0.1
_FIRST_LOOK_SECONDS, _LAST_LOOK_SECONDS = 0.02, 1.0
_LONGEST_OUTAGE_PAUSE_SECONDS = 30.0


class Worker(Protocol):
    """Processes changes for `follow`."""

    def newest(self) -> Newest:
        """The version up to which changes can be processed now."""

    def has_work(self, newest: Newest) -> bool:
        """Whether there are unprocessed changes up to that version that can be processed now."""

    def work(self, newest: Newest) -> None:
        """Process them."""

    def seconds_to_sleep(self) -> float | None:
        """The time until the next retry; None if there is none."""


def follow(worker: Worker, using: str = DEFAULT_DB_ALIAS) -> None:
    """Process changes, wait for more, and so on. Ends only by an exception."""
    listener = ChangeListener(using)
    while True:
        while worker.has_work(newest := worker.newest()):
            worker.work(newest)
            time.sleep(_PAUSE_SECONDS)
        seconds = worker.seconds_to_sleep()
        if seconds is not None:
            time.sleep(min(seconds, _LAST_LOOK_SECONDS))  # Short enough to poll instead of listening.
            continue
        with listener.listening():
            _wait_for_work(worker, listener)


def _wait_for_work(worker: Worker, listener: ChangeListener) -> None:
    """Wait for a notification. Writers that were active before the listener do not notify, so poll until they end."""
    look = _FIRST_LOOK_SECONDS
    while not worker.has_work(newest := worker.newest()):
        listener.wait() if newest.is_quiet else listener.wait(look)
        look = min(2 * look, _LAST_LOOK_SECONDS)


def retry_on_outage(run: Callable[[], None], using: str = DEFAULT_DB_ALIAS) -> None:
    """Run, and run again with growing pauses if it fails because of an outage of the database."""
    pause = _FIRST_LOOK_SECONDS
    while True:
        started = time.monotonic()
        try:
            return run()
        except (DatabaseError, InterfaceError) as error:
            if not is_outage(error):
                raise
            if time.monotonic() - started > _LONGEST_OUTAGE_PAUSE_SECONDS:
                pause = _FIRST_LOOK_SECONDS
            log.warning("the database is unavailable, trying again in %.1f seconds: %s", pause, str(error).strip())
            connections[using].close()
            time.sleep(pause)
            pause = min(2 * pause, _LONGEST_OUTAGE_PAUSE_SECONDS)
