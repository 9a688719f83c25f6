"""Working off changes as they come: now, whenever there are more, and again after the database was away."""

import logging
import time
from collections.abc import Callable
from typing import Protocol

from django.db import DEFAULT_DB_ALIAS, DatabaseError, InterfaceError, connections

from edfi_api.change_stream.reading import Newest
from edfi_api.change_stream.waking import Alarm
from edfi_api.documents.exceptions import is_outage

log = logging.getLogger(__name__)

# While changes keep coming they are gathered for so long, instead of waiting for each: nobody has to notify then.
_PAUSE_SECONDS = 0.1
_FIRST_LOOK_SECONDS, _LAST_LOOK_SECONDS = 0.02, 1.0
_LONGEST_OUTAGE_PAUSE_SECONDS = 30.0


class Worker(Protocol):
    """Something that is done to changes."""

    def newest(self) -> Newest:
        """How far can be worked now."""

    def has_work(self, newest: Newest) -> bool:
        """Whether something is left to do up to there."""

    def work(self, newest: Newest) -> None:
        """Do it."""

    def seconds_to_sleep(self) -> float | None:
        """When there will be work though nothing changes, if there will."""


def follow(worker: Worker, using: str = DEFAULT_DB_ALIAS) -> None:
    """Work, sleep until something has changed, and so on. Returns only by an exception."""
    alarm = Alarm(using)
    while True:
        while worker.has_work(newest := worker.newest()):
            worker.work(newest)
            time.sleep(_PAUSE_SECONDS)
        seconds = worker.seconds_to_sleep()
        if seconds is not None:
            time.sleep(min(seconds, _LAST_LOOK_SECONDS))  # Nobody need notify who looks again soon anyway.
            continue
        with alarm.set():
            _sleep_until_work(worker, alarm)


def _sleep_until_work(worker: Worker, alarm: Alarm) -> None:
    """Who was writing before the alarm was set does not wake us, so we look after a moment whether it has finished."""
    look = _FIRST_LOOK_SECONDS
    while not worker.has_work(newest := worker.newest()):
        alarm.sleep() if newest.is_quiet else alarm.sleep(look)
        look = min(2 * look, _LAST_LOOK_SECONDS)


def through_outages(run: Callable[[], None], using: str = DEFAULT_DB_ALIAS) -> None:
    """Run, and begin again as long as it ends because the database is away."""
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
            log.warning("the database is away, trying again in %.1f seconds: %s", pause, str(error).strip())
            connections[using].close()
            time.sleep(pause)
            pause = min(2 * pause, _LONGEST_OUTAGE_PAUSE_SECONDS)
