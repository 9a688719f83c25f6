"""`make bench`, section `parts`: what the parts of an answer cost, by turns in one process and one thread.

    python -m tests.tools.benchmarks.parts [--requests N] [--json FILE]

The application of a server is called with and without a part, a hundred requests in turn, so that whatever else the
machine does concerns both. Figures are microseconds of processor time, without those of PostgreSQL, the HTTP engine and
the hand-overs between threads; a share is that of the same request as a whole. Each part has a budget.
"""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from tests.support.server_processes import Server, meadowlark
from tests.tools.benchmarks.command_line import parser, write_json
from tests.tools.benchmarks.verification import verify
from tests.tools.benchmarks.workloads import Workloads

_SEEDED = 300
_INSIDE = "import meadowlark.wsgi; from tests.tools.benchmarks import parts_application; parts_application.main()"
# Of the part, the most that its share may be.
_BUDGETS = {
    "the same by what was prepared": 0.50,
    "HTTP engine's requests and answers": 0.10,
    "Django's handler, middleware, routes": 0.25,
    "of these, metrics and request log": 0.12,
    "of these, correlation id": 0.08,
    "authentication": 0.05,
    "ledger, of an accepted write": 0.06,
    "ledger, of a refused write": 0.08,
}


@dataclass(frozen=True)
class Row:
    """A part: microseconds of it, and its share of the request."""

    part: str
    microseconds: float
    share: float


def main() -> int:
    """The command line; see the module's text."""
    options = parser("parts", __doc__)
    options.add_argument("--requests", type=int, default=6000, help="of each part")
    given = options.parse_args()
    rows = measure(given.requests)
    print(f"\n{table(rows)}")
    write_json(given.json, map(asdict, rows))
    return 0


def measure(requests: int) -> list[Row]:
    """So many requests for each part; the data is verified at the end."""
    with tempfile.TemporaryDirectory(prefix="meadowlark-parts-") as folder:
        home = Path(folder, "home")
        with meadowlark(home) as server:
            workloads = Workloads(server)
            workloads.seed(_SEEDED)
            found = _inside(server, home, _requests(workloads, requests))
            verify(server.database_url, home)
    whole, _ = found.pop("the whole")
    rows = [Row("GET by id", whole, 1)]
    for part, (taken, less) in found.items():
        rows.append(Row(part, less, less / (taken if part.startswith("ledger") else whole)))
    return rows


def _requests(workloads: Workloads, number: int) -> dict[str, list[Any]]:
    made = {
        "GET": _repeated(workloads.association_by_id(), number),
        "again": _repeated(workloads.same_associations(), number),
        "invalid": workloads.invalid_students(number),
    }
    return {name: list(map(_parsed, raw)) for name, raw in made.items()}


def _repeated(requests: list[bytes], number: int) -> list[bytes]:
    return (requests * (number // len(requests) + 1))[:number]


def _parsed(raw: bytes) -> list[Any]:
    """Method, path and body."""
    head, _, body = raw.partition(b"\r\n\r\n")
    method, path, _ = head.split(b"\r\n")[0].decode().split(" ")
    return [method, path, json.loads(body) if body else None]


def _inside(server: Server, home: Path, requests: dict[str, list[Any]]) -> dict[str, tuple[float, float]]:
    """What a process with the application of the server has measured."""
    with tempfile.TemporaryDirectory(prefix="meadowlark-metrics-") as metrics:
        variables = {
            "DATABASE_URL": server.database_url,
            "MEADOWLARK_HOME": str(home),
            "DJANGO_SETTINGS_MODULE": "meadowlark.settings",
            "PROMETHEUS_MULTIPROC_DIR": metrics,
        }
        done = subprocess.run(
            [sys.executable, "-c", _INSIDE],
            env=os.environ | variables,
            input=json.dumps({"token": server.token, "requests": requests}),
            stdout=subprocess.PIPE,
            check=True,
            text=True,
        )
    found: dict[str, tuple[float, float]] = json.loads(done.stdout)
    return found


def table(rows: Iterable[Row]) -> str:
    """Return a table for a person: a line for each part."""
    return "\n".join([f"{'':38}{'us':>7}{'share':>8}{'budget':>8}", *_lines(rows)])


def _lines(rows: Iterable[Row]) -> Iterator[str]:
    for row in rows:
        budget = _BUDGETS.get(row.part)
        limit = "" if budget is None else f"{budget:8.2f}{'  EXCEEDED' if row.share > budget else ''}"
        yield f"{row.part:38}{row.microseconds:7.1f}{row.share:8.3f}{limit}"


if __name__ == "__main__":
    sys.exit(main())
