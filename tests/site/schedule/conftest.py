"""`manage.py run_schedule` as a process, on the database of the tests."""

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from edfi_api.site.schedule.models import ScheduledCommand
from tests.support.databases import database_url

TOP = Path(__file__).parents[3]


class Running:
    """A process of `run_schedule`."""

    def __init__(self, log: Path, schedule: str) -> None:
        self._log = log
        with log.open("wb") as output:
            self.process = subprocess.Popen(
                [sys.executable, "manage.py", "run_schedule"],
                cwd=TOP,
                env=os.environ | {"DATABASE_URL": database_url(), "MEADOWLARK_SCHEDULE": schedule},
                stdout=output,
                stderr=output,
            )

    @property
    def output(self) -> str:
        return self._log.read_text()

    def wait_until_printed(self, text: str, times: int = 1) -> None:
        eventually(lambda: self.output.count(text) >= times, self)

    def stop(self) -> int:
        self.process.terminate()
        return self.process.wait(30)


@pytest.fixture
def scheduler(transactional_db: None, tmp_path: Path) -> Iterator[Callable[[str], Running]]:
    """Starts processes that have begun with the schedule, and ends them after the test."""
    started: list[Running] = []

    def start(schedule: str) -> Running:
        running = Running(tmp_path / f"log{len(started)}", schedule)
        started.append(running)
        running.wait_until_printed("scheduled: ")
        return running

    yield start
    for each in started:
        each.process.kill()
        each.process.wait()


def eventually(condition: Callable[[], object], *running: Running) -> None:
    """Waits until the condition holds."""
    deadline = time.monotonic() + 30
    while not condition():
        assert time.monotonic() < deadline, [each.output for each in running]
        time.sleep(0.02)


def due(entry: str) -> None:
    """Act as if a scheduler had seen the entry days ago."""
    ScheduledCommand.objects.create(entry=entry, claimed_at=datetime.now(UTC) - timedelta(days=3))


def outcome_of(entry: str) -> str:
    return ScheduledCommand.objects.get(entry=entry).outcome
