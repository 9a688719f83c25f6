"""Changes, and their delivery to a consumer in this process or in a subprocess."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from edfi_api.features.changes.change_stream.delivery import ToSink, deliver_once
from edfi_api.features.changes.change_stream.documents import DocumentLog
from edfi_api.features.changes.change_stream.exceptions import SinkFailed
from tests.support.databases import database_url

TOP = Path(__file__).parents[4]
STUDENT = {"firstName": "Mae", "lastSurname": "Ortiz", "birthDate": "2010-02-03"}


class ListSink:
    """Collects lines; fails on request."""

    def __init__(self) -> None:
        self.lines: list[dict] = []
        self.is_broken = False

    def send(self, changes) -> None:
        if self.is_broken:
            raise SinkFailed("broken")
        self.lines += [json.loads(change.line()) for change in changes]

    def close(self) -> None:
        pass


@pytest.fixture
def sink():
    return ListSink()


@pytest.fixture
def streamed(sink):
    """Delivers all changes to a consumer, including those of the current transaction."""

    def stream(consumer="tests", start=None, resources=()):
        before = len(sink.lines)
        deliver_once([ToSink(consumer, DocumentLog(), sink, resources, start=start)])
        return sink.lines[before:]

    return stream


def post_student(api, number, **changes):
    response = api.post("/students", {"studentUniqueId": str(number), **STUDENT, **changes})
    assert response.status_code in (200, 201), response.content
    return response


class Process:
    """`manage.py` as a subprocess, on the database of the tests; its output goes to a file."""

    def __init__(self, folder: Path, *arguments: str, **environment: str) -> None:
        self._folder = folder
        self.log = folder / "log"
        output = folder / f"output{len(list(folder.glob('output*')))}"
        with output.open("wb") as lines, self.log.open("ab") as log:
            self.popen = subprocess.Popen(
                [sys.executable, "manage.py", *arguments],
                cwd=TOP,
                env=os.environ | {"DATABASE_URL": database_url()} | environment,
                stdout=lines,
                stderr=log,
            )

    def lines(self) -> list[dict]:
        """All lines written in this folder, also by earlier processes; a killed one may have truncated a line."""
        texts = [output.read_bytes() for output in sorted(self._folder.glob("output*"))]
        return [json.loads(line) for text in texts for line in text.splitlines(keepends=True) if line.endswith(b"\n")]

    def end(self) -> None:
        self.popen.kill()
        self.popen.wait()


@pytest.fixture
def process(committing_api, tmp_path):
    """Starts processes and ends them after the test."""
    started = []

    def start(*arguments, **environment):
        started.append(Process(tmp_path, *arguments, **environment))
        return started[-1]

    yield start
    for each in started:
        each.end()


def eventually(condition: Callable[[], object], seconds: float = 30) -> None:
    """Waits until the condition holds."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.02)
