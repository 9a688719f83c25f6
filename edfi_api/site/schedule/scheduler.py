"""Starts each command of the schedule when it is due, in a process of its own.

What was started when is in the database, so that commands whose time passes while nothing runs are caught up with, and
of several schedulers one starts each: who has claimed the row (`_claim`). A command that takes longer than its interval
holds a lock, so that no scheduler starts it again before it has ended, whichever host it runs on.
"""

import logging
import os
import shlex
import signal
import socket
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from multiprocessing import get_context
from multiprocessing.connection import wait
from multiprocessing.context import ForkProcess
from types import FrameType
from typing import NoReturn

from django.core.management import call_command
from django.core.management.base import CommandError
from django.db import DEFAULT_DB_ALIAS, DatabaseError, InterfaceError, connections

from edfi_api.common.one_process import exclusively
from edfi_api.core.storage.driver.execution import is_outage
from edfi_api.site.schedule.models import CommandOutcome, ScheduledCommand
from edfi_api.site.schedule.timetable import Entry

log = logging.getLogger(__name__)

# The seconds that it may take to notice that another scheduler has started a command, or that the clock was set.
_LONGEST_PAUSE_SECONDS = 30.0
_OUTAGE_PAUSE_SECONDS = 2.0
_TO_STOP = (signal.SIGTERM, signal.SIGINT)
_INTERRUPTED = 128 + signal.SIGINT
# Outcomes by exit status; any other one, and a signal, is a failure.
_OUTCOMES = {0: CommandOutcome.DONE, os.EX_TEMPFAIL: CommandOutcome.BUSY, _INTERRUPTED: CommandOutcome.STOPPED}

# Forked from a process that has loaded Django, so that a command begins at once.
_processes = get_context("fork")


class Scheduler:
    """The commands of a schedule, of which each runs once at a time."""

    def __init__(self, entries: Sequence[Entry]) -> None:
        self._entries = entries
        self._running: dict[Entry, ForkProcess] = {}
        # Commands that have ended, and are to be recorded.
        self._ended: list[tuple[Entry, CommandOutcome]] = []

    def run(self) -> None:
        """Run until SIGTERM or SIGINT, which running commands get as SIGTERM; returns when they have ended."""
        with _stop_signals() as stop:
            log.info("scheduled: %s", "; ".join(map(str, self._entries)) or "nothing")
            pause = self._look()
            while stop not in wait([stop, *(process.sentinel for process in self._running.values())], pause):
                pause = self._look()
            for process in self._running.values():
                process.terminate()
            for process in self._running.values():
                process.join()
            self._look(is_last=True)

    def _look(self, *, is_last: bool = False) -> float:
        """Record what has ended, and start what is due; the seconds to the next look. While the database is away
        nothing is lost: what has ended is recorded, and what is due started, when it is back."""
        for entry, process in list(self._running.items()):
            if process.exitcode is not None:
                self._ended.append((entry, _OUTCOMES.get(process.exitcode, CommandOutcome.FAILED)))
                del self._running[entry]
        try:
            while self._ended:
                _record(*self._ended[0])
                del self._ended[0]
            return _LONGEST_PAUSE_SECONDS if is_last else self._start_due()
        except (DatabaseError, InterfaceError) as error:
            if not is_outage(error):
                raise
            log.warning("the database is unavailable: %s", str(error).strip())
            return _OUTAGE_PAUSE_SECONDS
        finally:
            connections.close_all()

    def _start_due(self) -> float:
        claimed = _read_claims(self._entries)
        for entry in self._entries:
            if entry in self._running:
                continue
            now = datetime.now(UTC)
            if entry.due_after(claimed[entry]) <= now and _claim(entry, claimed[entry], now):
                claimed[entry] = now
                self._start(entry)
        return self._seconds_to_next(claimed)

    def _seconds_to_next(self, claimed: Mapping[Entry, datetime]) -> float:
        waiting = [entry.due_after(last) for entry, last in claimed.items() if entry not in self._running]
        seconds = (min(waiting) - datetime.now(UTC)).total_seconds() if waiting else _LONGEST_PAUSE_SECONDS
        return min(max(seconds, 0.0), _LONGEST_PAUSE_SECONDS)

    def _start(self, entry: Entry) -> None:
        connections.close_all()  # A connection belongs to one process.
        process = _processes.Process(target=_run, args=(entry.command,), name=entry.command)
        # A signal that arrives before the new process has handlers of its own waits until then.
        signal.pthread_sigmask(signal.SIG_BLOCK, _TO_STOP)
        try:
            process.start()
        finally:
            signal.pthread_sigmask(signal.SIG_UNBLOCK, _TO_STOP)
        self._running[entry] = process


def _read_claims(entries: Sequence[Entry]) -> dict[Entry, datetime]:
    """Return when each was last claimed. A new one counts as claimed now, so that nothing is due because it is new."""
    rows = ScheduledCommand.objects.filter(entry__in=map(str, entries))
    known = dict(rows.values_list("entry", "claimed_at"))
    if missing := [entry for entry in entries if str(entry) not in known]:
        now = datetime.now(UTC)
        new = [ScheduledCommand(entry=str(entry), claimed_at=now) for entry in missing]
        ScheduledCommand.objects.bulk_create(new, ignore_conflicts=True)
        known = dict(rows.values_list("entry", "claimed_at"))
    return {entry: known[str(entry)] for entry in entries}


def _claim(entry: Entry, last: datetime, now: datetime) -> bool:
    """Return whether it is this scheduler that starts the command: of several that see the row, one changes it."""
    seen = ScheduledCommand.objects.filter(entry=str(entry), claimed_at=last)
    return bool(seen.update(claimed_at=now, host=socket.gethostname()))


def _record(entry: Entry, outcome: CommandOutcome) -> None:
    now = datetime.now(UTC)
    ended = {"ended_at": now, "outcome": outcome}
    if outcome is CommandOutcome.DONE:
        ended["succeeded_at"] = now
    ScheduledCommand.objects.filter(entry=str(entry)).update(**ended)
    log.log(logging.INFO if outcome is CommandOutcome.DONE else logging.WARNING, "%s: %s", entry, outcome.label)


@contextmanager
def _stop_signals() -> Iterator[int]:
    """Yield a file descriptor that is readable after SIGTERM or SIGINT."""
    readable, writable = os.pipe()
    before = {number: signal.signal(number, lambda *_: os.write(writable, b".")) for number in _TO_STOP}
    try:
        yield readable
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        os.close(readable)
        os.close(writable)


def _run(command: str) -> NoReturn:
    """Run the command in the new process, and exit with its status."""
    for number in _TO_STOP:
        signal.signal(number, _interrupt)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, _TO_STOP)
    sys.exit(_status_of(command))


def _interrupt(*_: int | FrameType | None) -> NoReturn:
    """Interrupt as Ctrl-C does, at which psycopg cancels its statement. A second signal must not interrupt the end."""
    for number in _TO_STOP:
        signal.signal(number, signal.SIG_IGN)
    raise KeyboardInterrupt


def _status_of(command: str) -> int:
    try:
        with exclusively(f"run_schedule {command}", DEFAULT_DB_ALIAS, _StillRunning):
            log.info("%s: started", command)
            call_command(*shlex.split(command))
    except _StillRunning:
        return os.EX_TEMPFAIL
    except KeyboardInterrupt:
        return _INTERRUPTED
    except CommandError as error:
        log.error("%s: %s", command, error)
        return error.returncode
    except Exception as error:
        if is_outage(error):
            log.error("%s: the database is unavailable: %s", command, str(error).strip())
        else:
            log.exception("%s failed", command)
        return 1
    return 0


class _StillRunning(Exception):
    """Another process runs the same command."""
