"""How fast `load_documents` is beside the same kind of documents posted through the API, and how much memory it takes.

    python -m tests.benchmarks.bulk [--documents N] [--seconds S] [--json FILE]

Starts the server as `make run` does, in a temporary home. In the same run it posts new documents with 1 and with 16
connections, and loads files of other new ones, then the same files again and with a change. A load is measured as its
user sees it, from the start of the command to its end; `memory` is the most that it and its processes held together
(proportional set size). A student has 1 descriptor, an association 2 references and 2 descriptors.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from itertools import chain
from pathlib import Path
from typing import Any

import psutil

from tests.benchmarks import load
from tests.benchmarks.server import Server, meadowlark
from tests.benchmarks.workloads import SCHOOLS, Workloads

_TOP = Path(__file__).parents[2]
_CONNECTIONS = (1, 16)
_NEW_PER_SECOND = 10_000
_SEEDED = 300
_BETWEEN_LOOKS = 0.2
_MANAGE = [sys.executable, "manage.py"]
_DESCRIPTORS = "uri://ed-fi.org"


@dataclass(frozen=True)
class Row:
    """One measurement; memory in megabytes, None where it is the server's."""

    what: str
    documents: int
    per_second: float
    memory: float | None = None


def main() -> int:
    """The command line; see the module's text."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.bulk", description=__doc__.split("\n")[0])
    parser.add_argument("--documents", type=int, default=100_000, help="students in a file, and as many associations")
    parser.add_argument("--seconds", type=float, default=5, help="how long the API is measured each time")
    parser.add_argument("--json", type=Path, help="write the result to this file too")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="meadowlark-bulk-") as folder:
        print("Starting the server ...", flush=True)
        with meadowlark(Path(folder) / "home") as server:
            rows = []
            for row in chain(_api(server, options.seconds), _loads(server, Path(folder), options.documents)):
                print(f"{row.what}: {row.per_second:,.0f}/s", flush=True)
                rows.append(row)
    print(f"\n{_table(rows)}")
    if options.json:
        options.json.write_text(json.dumps([asdict(row) for row in rows], indent=2))
    return 0


def _api(server: Server, seconds: float) -> Iterable[Row]:
    workloads = Workloads(server)
    workloads.seed(_SEEDED)
    news: dict[str, Callable[[int], list[bytes]]] = {
        "student": workloads.new_students,
        "association": workloads.new_associations,
    }
    for kind, new_requests in news.items():
        for connections in _CONNECTIONS:
            requests = new_requests(round(_NEW_PER_SECOND * seconds))
            measured = load.measure(server.port, requests, connections, seconds)
            if measured.errors or measured.requests >= len(requests):
                raise RuntimeError(f"not a measurement: {measured}")
            yield Row(_posted(kind, connections), measured.requests, measured.per_second)


def _posted(kind: str, connections: int) -> str:
    return f"POST {kind}, {connections} connection{'s' if connections > 1 else ''}"


def _loads(server: Server, folder: Path, documents: int) -> Iterable[Row]:
    environment = os.environ | {"DATABASE_URL": server.database_url, "MEADOWLARK_HOME": str(folder / "home")}
    students, associations = folder / "students.jsonl", folder / "studentSchoolAssociations.jsonl"
    _write(students, map(_student, range(documents // 4)))
    yield _load("load student, a quarter of them", students, documents // 4, environment)
    _write(students, map(_student, range(documents)))
    yield _load("load student", students, documents, environment)
    _write(associations, map(_association, range(documents)))
    yield _load("load association", associations, documents, environment)
    yield _load("load association again", associations, documents, environment)
    _write(associations, (_association(number) | {"primarySchool": False} for number in range(documents)))
    yield _load("load association changed", associations, documents, environment)
    subprocess.run([*_MANAGE, "verify_integrity"], cwd=_TOP, env=environment, check=True, stdout=subprocess.DEVNULL)


def _load(what: str, file: Path, documents: int, environment: dict[str, str]) -> Row:
    report = file.with_suffix(".report")
    command = [*_MANAGE, "load_documents", str(file), "--report", str(report)]
    start = time.perf_counter()
    with subprocess.Popen(command, cwd=_TOP, env=environment, stdout=subprocess.DEVNULL) as process:
        memory = 0.0
        while process.poll() is None:
            memory = max(memory, _memory(process.pid))
            time.sleep(_BETWEEN_LOOKS)
    seconds = time.perf_counter() - start
    if process.returncode or json.loads(report.read_text())["summary"]["total"]["refused"]:
        raise RuntimeError(f"{what} failed: {report.read_text()[:2000]}")
    return Row(what, documents, documents / seconds, memory)


def _memory(pid: int) -> float:
    """Of a process and those that it started; pages that several share are counted once."""
    try:
        owner = psutil.Process(pid)
        processes = [owner, *owner.children(recursive=True)]
        return sum(process.memory_full_info().pss for process in processes) / 2**20
    except (psutil.NoSuchProcess, psutil.AccessDenied):
        return 0


def _write(path: Path, bodies: Iterable[dict[str, Any]]) -> None:
    with path.open("w", encoding="utf-8") as file:
        for body in bodies:
            file.write(json.dumps(body) + "\n")


def _student(number: int) -> dict[str, Any]:
    return {
        "studentUniqueId": f"bulk{number:08d}",
        "birthDate": "2010-01-13",
        "birthSexDescriptor": f"{_DESCRIPTORS}/SexDescriptor#Female",
        "firstName": "Mae",
        "middleName": "Elena",
        "lastSurname": f"Ortiz{number % 997}",
    }


def _association(number: int) -> dict[str, Any]:
    return {
        "studentReference": {"studentUniqueId": f"bulk{number:08d}"},
        "schoolReference": {"schoolId": SCHOOLS[number % len(SCHOOLS)]},
        "entryDate": "2025-08-20",
        "entryGradeLevelDescriptor": f"{_DESCRIPTORS}/GradeLevelDescriptor#Ninth grade",
        "entryTypeDescriptor": f"{_DESCRIPTORS}/EntryTypeDescriptor#Other",
        "primarySchool": True,
    }


def _table(rows: Sequence[Row]) -> str:
    """Each row beside the API's of the same kind, with 1 and with 16 connections."""
    rates = {row.what: row.per_second for row in rows}
    lines = [f"{'':<34}{'documents':>12}{'per second':>12}{'memory MB':>12}{'x 1 conn.':>12}{'x 16 conn.':>12}"]
    for row in rows:
        line = f"{row.what:<34}{row.documents:>12,}{row.per_second:>12,.0f}"
        if row.memory is not None:
            kind = "student" if "student" in row.what else "association"
            ratios = [row.per_second / rates[_posted(kind, connections)] for connections in _CONNECTIONS]
            line += f"{row.memory:>12,.0f}" + "".join(f"{ratio:>12.1f}" for ratio in ratios)
        lines.append(line)
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())
