"""Throughput and lag of `stream_changes`, and its cost for writers.

    python -m tests.tools.benchmarks.stream [--documents N] [--seconds S]

Starts the server as by `make run`, in a temporary home. First it streams stored documents into a file. Then it posts
new ones with 16 connections, alternately without and with `stream_changes --follow`. The lag of a change is
the time from the begin of its transaction, which is in its line, until the line is in the file, which is polled every
few milliseconds. Server, database, stream and load generator share the cores, so the ratio of the rates of writes is
the relevant figure.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

import psycopg

from tests.support.server_processes import Server, meadowlark
from tests.tools.benchmarks import load
from tests.tools.benchmarks.database import copied_students
from tests.tools.benchmarks.verification import verify
from tests.tools.benchmarks.workloads import Workloads

_TOP = Path(__file__).parents[3]
_CONNECTIONS = 16
_ROUNDS = 3
_NEW_PER_SECOND = 10_000
_SEEDED = 300
_BETWEEN_LOOKS = 0.005
_SLEEPS = "SELECT EXISTS (SELECT FROM pg_locks WHERE locktype = 'advisory' AND objid = 0 AND objsubid = 2)"


def main() -> int:
    """The command line; see the module's docstring."""
    parser = argparse.ArgumentParser(prog="python -m tests.tools.benchmarks.stream", description=__doc__.split("\n")[0])
    parser.add_argument("--documents", type=int, default=100_000, help="how many are there already")
    parser.add_argument("--seconds", type=float, default=5, help="how long writers are measured each time")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="meadowlark-stream-") as name, meadowlark(Path(name) / "home") as server:
        folder, workloads = Path(name), Workloads(server)
        workloads.seed(_SEEDED)
        _measure_throughput(server, folder, options.documents)
        _measure_cost_for_writers(server, folder, workloads, options.seconds)
        _measure_lag_of_single_changes(server, folder)
        verify(server.database_url, folder / "home")
    return 0


def _measure_throughput(server: Server, folder: Path, documents: int) -> None:
    copied_students(server.database_url, documents)
    file = folder / "all"
    start = time.perf_counter()
    with _stream(server, folder, file, "--consumer", "tests") as process:
        while not file.stat().st_size:
            time.sleep(_BETWEEN_LOOKS)
        first_lines = time.perf_counter()
        process.wait()
    end = time.perf_counter()
    lines = file.read_bytes().count(b"\n")
    print(f"{lines:,} changes into a file: {lines / (end - first_lines):,.0f}/s, and ", end="")
    print(f"{lines / (end - start):,.0f}/s with the start of the command", flush=True)


def _measure_cost_for_writers(server: Server, folder: Path, workloads: Workloads, seconds: float) -> None:
    alone, beside, lags = [], [], []
    for number in range(_ROUNDS):
        alone.append(_written(server, workloads, seconds))
        with _following(server, folder, folder / f"following{number}") as seen:
            beside.append(_written(server, workloads, seconds))
            time.sleep(2)
        lags += seen
    alone_rate, beside_rate = statistics.median(alone), statistics.median(beside)
    print(f"POST student, {_CONNECTIONS} connections: {alone_rate:,.0f}/s alone, {beside_rate:,.0f}/s with a follower")
    quantiles = statistics.quantiles(lags, n=100)
    print(f"lag of {len(lags):,} changes under this load: p50 {quantiles[49]:.3f} s, p99 {quantiles[98]:.3f} s")


def _measure_lag_of_single_changes(server: Server, folder: Path) -> None:
    with _following(server, folder, folder / "idle") as seen:
        for _ in range(20):
            copied_students(server.database_url, 1)
            time.sleep(0.5)
    print(f"lag of single changes with pauses between them: median {statistics.median(seen):.3f} s", flush=True)


def _written(server: Server, workloads: Workloads, seconds: float) -> float:
    requests = workloads.new_students(round(_NEW_PER_SECOND * seconds))
    measured = load.measure(server.port, requests, _CONNECTIONS, seconds)
    if measured.errors:
        raise RuntimeError(f"not a measurement: {measured}")
    return measured.per_second


@contextmanager
def _following(server: Server, folder: Path, file: Path) -> Iterator[list[float]]:
    """The lags of changes for a consumer that has read all previous ones."""
    with _stream(server, folder, file, "--consumer", "tests", "--follow"):
        while not _is_idle(server):
            time.sleep(_BETWEEN_LOOKS)
        with _watching(file) as lags:
            yield lags


def _is_idle(server: Server) -> bool:
    with psycopg.connect(server.database_url) as connection:
        return connection.execute(_SLEEPS).fetchone()[0]


@contextmanager
def _stream(server: Server, folder: Path, file: Path, *arguments: str) -> Iterator[subprocess.Popen[bytes]]:
    environment = os.environ | {"DATABASE_URL": server.database_url, "MEADOWLARK_HOME": str(folder / "home")}
    command = [sys.executable, "manage.py", "stream_changes", *arguments]
    with file.open("wb") as output, subprocess.Popen(command, cwd=_TOP, env=environment, stdout=output) as process:
        yield process
        process.kill()


@contextmanager
def _watching(file: Path) -> Iterator[list[float]]:
    """The lags in seconds of all lines written within the context."""
    lags: list[float] = []
    is_over = threading.Event()
    with file.open("rb") as lines:
        lines.seek(0, os.SEEK_END)
        watcher = threading.Thread(target=_watch, args=(lines, lags, is_over))
        watcher.start()
        yield lags
        is_over.set()
        watcher.join()


def _watch(lines, lags: list[float], is_over: threading.Event) -> None:
    rest = b""
    while not is_over.wait(_BETWEEN_LOOKS):
        text = rest + lines.read()
        now = datetime.now(UTC)
        *whole, rest = text.split(b"\n")
        lags += [(now - datetime.fromisoformat(json.loads(line)["time"])).total_seconds() for line in whole]


if __name__ == "__main__":
    sys.exit(main())
