"""`run_exchange`: follow all enabled connections, each in a process of its own.

A process pulls or pushes as long as its connection is enabled and unchanged. One that ends by itself is started again,
twice as late each time, up to five minutes. On several hosts each connection is followed by one of them, since its
worker holds a lock; the others try again.
"""

from __future__ import annotations

import logging
import signal
import subprocess
import sys
import threading
import time
from argparse import ArgumentParser
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.core.management.base import BaseCommand
from django.db import DatabaseError, InterfaceError, connections

from edfi_api.common.back_off import BackOff
from edfi_api.core.storage.driver.execution import is_outage
from edfi_api.features.exchange.management.exchange_commands import add_trust, stop_event
from edfi_api.features.exchange.models import Connection, ExchangeDirection

_SECONDS_BETWEEN_LOOKS = 5.0
_FIRST_PAUSE, _LONGEST_PAUSE = 5.0, 300.0
_SECONDS_TO_END = 25.0
_COMMANDS = {ExchangeDirection.PULL: "pull_changes", ExchangeDirection.PUSH: "push_changes"}

_log = logging.getLogger("meadowlark.exchange")


class Command(BaseCommand):
    """See the module."""

    help = (
        "Pulls and pushes for all enabled connections, until it gets SIGTERM or Ctrl-C. Connections that are enabled, "
        "disabled or changed in the meantime are noticed within seconds. It may run on several hosts: each connection "
        "is followed by one of them. make run starts it when there are enabled connections, docker/compose.yaml always."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--list", dest="is_listed", action="store_true", help="print what would be followed, and follow nothing"
        )
        add_trust(parser)

    def handle(self, **options: Any) -> None:
        if options["is_listed"]:
            for followed in enabled_connections():
                self.stdout.write(f"{followed.name}: {followed.command}")
            return
        passed_on = ["--ca", str(options["ca"])] if options["ca"] else []
        passed_on += ["--insecure"] if options["insecure"] else []
        with stop_event() as stop:
            Workers(passed_on).run(stop)


@dataclass(frozen=True, slots=True)
class Followed:
    """An enabled connection, as it was when its worker was started."""

    name: str
    command: str
    version: str


@dataclass(slots=True)
class _Worker:
    process: subprocess.Popen[bytes]
    started_at: float


class Workers:
    """The workers of this host; `options` are those of the commands, `--ca` and the like."""

    def __init__(self, options: Sequence[str]) -> None:
        self._options = options
        self._running: dict[Followed, _Worker] = {}
        # When a worker that has ended may be started again, by name.
        self._due: dict[str, float] = {}
        self._back_off: defaultdict[str, BackOff] = defaultdict(lambda: BackOff(_FIRST_PAUSE, _LONGEST_PAUSE))

    def run(self, stop: threading.Event) -> None:
        """Run until `stop` is set; returns when all workers have ended."""
        try:
            while not stop.wait(_SECONDS_BETWEEN_LOOKS if self._look() else 1.0):
                pass
        finally:
            self._stop(self._running)

    def _look(self) -> bool:
        """Start and end what is to be; False while the database is away, when nothing changes."""
        try:
            wanted = enabled_connections()
        except (DatabaseError, InterfaceError) as error:
            if not is_outage(error):
                raise
            return False
        finally:
            connections.close_all()
        self._note_ended()
        self._stop({each: worker for each, worker in self._running.items() if each not in wanted})
        for each in wanted - self._running.keys():
            if time.monotonic() >= self._due.get(each.name, 0.0):
                self._start(each)
        return True

    def _start(self, followed: Followed) -> None:
        command = [sys.executable, "-m", "meadowlark.run.command_line", followed.command, followed.name, "--follow"]
        process = subprocess.Popen([*command, *self._options], stdin=subprocess.DEVNULL)  # noqa: S603  Our own command.
        self._running[followed] = _Worker(process, time.monotonic())
        _log.info("connection %s is followed", followed.name)

    def _note_ended(self) -> None:
        for followed, worker in list(self._running.items()):
            status = worker.process.poll()
            if status is None:
                continue
            del self._running[followed]
            if time.monotonic() - worker.started_at > _LONGEST_PAUSE:
                self._back_off[followed.name].reset()
            pause = self._back_off[followed.name].pause()
            self._due[followed.name] = time.monotonic() + pause
            _log.warning(
                "the worker of the connection %s has ended with status %s: again in %.0f s",
                followed.name,
                status,
                pause,
            )

    def _stop(self, workers: Mapping[Followed, _Worker]) -> None:
        for followed, worker in list(workers.items()):
            worker.process.send_signal(signal.SIGTERM)
            _log.info("connection %s is no longer followed", followed.name)
        deadline = time.monotonic() + _SECONDS_TO_END
        for followed, worker in list(workers.items()):
            try:
                worker.process.wait(max(0.1, deadline - time.monotonic()))
            except subprocess.TimeoutExpired:
                worker.process.kill()
                worker.process.wait()
            self._running.pop(followed, None)
            self._due.pop(followed.name, None)
            self._back_off.pop(followed.name, None)


def enabled_connections() -> set[Followed]:
    """Return what is to be followed."""
    rows = Connection.objects.filter(is_enabled=True)
    return {
        Followed(row.name, _COMMANDS[ExchangeDirection(row.direction)], f"{row.pk} {row.modified_at}") for row in rows
    }
