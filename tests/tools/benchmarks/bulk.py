"""Time and memory of `load_documents`, compared with posting the same kinds of documents through the API.

    python -m tests.tools.benchmarks.bulk [--documents N] [--seconds S] [--json FILE]

Starts the server as `make run` does, in a temporary home. In the same run it posts new documents with 1 and with 16
connections, and loads files of other new ones, then the same files again and with a change. A load is measured from the
start of the command to its end, of which Python's start is about a second; `memory` is the peak of all its processes
(proportional set size). `cpu` is the processor time per document of all participants: load generator, server or
command, and PostgreSQL. On a busy machine it is more reliable than documents per second. A student has 1 descriptor, an
association 2 references and 2 descriptors.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from itertools import chain
from pathlib import Path

import psutil

from tests.support.server_processes import Server, meadowlark
from tests.tools.benchmarks import command_line, load
from tests.tools.benchmarks.costs import seconds, with_costs
from tests.tools.benchmarks.verification import verify
from tests.tools.benchmarks.workloads import Body, Workloads, association, student

_TOP = Path(__file__).parents[3]
_CONNECTIONS = (1, 16)
_NEW_PER_SECOND = 10_000
_SEEDED = 300
_BETWEEN_LOOKS = 0.2
_MANAGE = [sys.executable, "manage.py"]


@dataclass(frozen=True)
class Row:
    """One measurement; processor time in microseconds, memory in megabytes, None for the server."""

    what: str
    documents: int
    per_second: float
    cpu: float
    memory: float | None = None


def main() -> int:
    """The command line; see the module's docstring."""
    parser = command_line.parser("bulk", __doc__)
    parser.add_argument("--documents", type=int, default=200_000, help="students in a file, and as many associations")
    parser.add_argument("--seconds", type=float, default=5, help="how long the API is measured each time")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="meadowlark-bulk-") as folder:
        print("Starting the server ...", flush=True)
        with meadowlark(Path(folder) / "home") as server:
            rows = []
            for row in chain(_api(server, options.seconds), _loads(server, Path(folder), options.documents)):
                print(f"{row.what}: {row.per_second:,.0f}/s, {row.cpu:,.0f} us", flush=True)
                rows.append(row)
    print(f"\n{_table(rows)}")
    command_line.write_json(options.json, map(asdict, rows))
    return 0


def _api(server: Server, duration: float) -> Iterable[Row]:
    workloads = Workloads(server)
    workloads.seed(_SEEDED)
    news: dict[str, Callable[[int], list[bytes]]] = {
        "student": workloads.new_students,
        "association": workloads.new_associations,
    }
    for kind, new_requests in news.items():
        for connections in _CONNECTIONS:
            requests = new_requests(round(_NEW_PER_SECOND * duration))
            measured = with_costs(
                partial(load.measure, server.port, requests, connections, duration), server.gunicorn, server.postgres
            )
            if measured.errors or measured.requests >= len(requests):
                raise RuntimeError(f"not a measurement: {measured}")
            yield Row(_posted(kind, connections), measured.requests, measured.per_second, _cost(measured))


def _posted(kind: str, connections: int) -> str:
    return f"POST {kind}, {connections} connection{'s' if connections > 1 else ''}"


def _cost(measured: load.Measured) -> float:
    generator = (measured.generator_share or 0) / measured.per_second * 1e6
    return generator + measured.cost


def _loads(server: Server, folder: Path, documents: int) -> Iterable[Row]:
    environment = os.environ | {"DATABASE_URL": server.database_url, "MEADOWLARK_HOME": str(folder / "home")}
    students, associations = folder / "students.jsonl", folder / "studentSchoolAssociations.jsonl"
    measure = partial(_load, environment=environment, database=server.postgres)
    _write(students, map(_student, range(documents // 4)))
    yield measure("load student, a quarter of them", students, documents // 4)
    _write(students, map(_student, range(documents)))
    yield measure("load student", students, documents)
    _write(associations, map(_association, range(documents)))
    yield measure("load association", associations, documents)
    yield measure("load association again", associations, documents)
    _write(associations, (_association(number) | {"primarySchool": False} for number in range(documents)))
    yield measure("load association changed", associations, documents)
    verify(server.database_url, folder / "home")


def _load(what: str, file: Path, documents: int, environment: dict[str, str], database: psutil.Process) -> Row:
    report = file.with_suffix(".report")
    command = [*_MANAGE, "load_documents", str(file), "--report", str(report)]
    before = seconds(database)
    start = time.perf_counter()
    with subprocess.Popen(command, cwd=_TOP, env=environment, stdout=subprocess.DEVNULL) as process:
        memory, spent = 0.0, dict[int, float]()
        while process.poll() is None:
            memory = max(memory, _memory(process.pid))
            spent |= _spent(process.pid)
            time.sleep(_BETWEEN_LOOKS)
    duration = time.perf_counter() - start
    if process.returncode or json.loads(report.read_text())["summary"]["total"]["refused"]:
        raise RuntimeError(f"{what} failed: {report.read_text()[:2000]}")
    cpu = sum(spent.values()) + seconds(database) - before
    return Row(what, documents, documents / duration, cpu / documents * 1e6, memory)


def _memory(pid: int) -> float:
    """Return the memory of a process and its children; shared pages are counted once."""
    try:
        return sum(process.memory_full_info().pss for process in _family(pid)) / 2**20
    except (psutil.NoSuchProcess, psutil.AccessDenied):
        return 0


def _spent(pid: int) -> dict[int, float]:
    """Seconds of processor time of these processes so far."""
    try:
        return {process.pid: sum(process.cpu_times()[:2]) for process in _family(pid)}
    except (psutil.NoSuchProcess, psutil.AccessDenied):
        return {}


def _family(pid: int) -> list[psutil.Process]:
    owner = psutil.Process(pid)
    return [owner, *owner.children(recursive=True)]


def _write(path: Path, bodies: Iterable[Body]) -> None:
    with path.open("w", encoding="utf-8") as file:
        for body in bodies:
            file.write(json.dumps(body) + "\n")


def _student(number: int) -> Body:
    return student(number) | _unique_id(number)


def _association(number: int) -> Body:
    return association(number, studentReference=_unique_id(number))


def _unique_id(number: int) -> Body:
    return {"studentUniqueId": f"bulk{number:08d}"}


def _table(rows: Sequence[Row]) -> str:
    """Each row with its ratios to the API's rows of the same kind: with 1 and 16 connections, and in processor time."""
    posted = {row.what: row for row in rows}
    titles = ("documents", "per second", "cpu us", "memory MB", "x 1 conn.", "x 16 conn.", "in cpu")
    lines = [f"{'':<34}" + "".join(f"{title:>12}" for title in titles)]
    for row in rows:
        line = f"{row.what:<34}{row.documents:>12,}{row.per_second:>12,.0f}{row.cpu:>12,.0f}"
        if row.memory is not None:
            kind = "student" if "student" in row.what else "association"
            one, many = (posted[_posted(kind, connections)] for connections in _CONNECTIONS)
            ratios = [row.per_second / one.per_second, row.per_second / many.per_second, many.cpu / row.cpu]
            line += f"{row.memory:>12,.0f}" + "".join(f"{ratio:>12.1f}" for ratio in ratios)
        lines.append(line)
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())
