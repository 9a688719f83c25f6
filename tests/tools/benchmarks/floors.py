"""`make bench`, section `floors`: what a request takes beside the same without anything between engine and PostgreSQL.

    python -m tests.tools.benchmarks.floors [--rounds N] [--seconds S] [--connections N …] [--json FILE]

In the same rounds: the constant answer, the `SELECT` of a GET by id, and the `INSERT` of a new student, each through
the same engine with as many workers and threads (`floors_application.py`), and the requests that end with them. The
share is the rate beside that of the floor, the median of the rounds. The aim is half of the floor for a GET by id, and
three times the median for the 99th percentile of the times.
"""

import sys
import tempfile
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median

import psutil
import psycopg

from tests.support.server_processes import Server, constant_view, meadowlark
from tests.tools.benchmarks import load
from tests.tools.benchmarks.command_line import parser_of_rounds, write_json
from tests.tools.benchmarks.costs import with_costs
from tests.tools.benchmarks.load import Measured
from tests.tools.benchmarks.verification import verify
from tests.tools.benchmarks.workloads import Workloads

_SEEDED = 300
_NEW_PER_SECOND = 10_000
_APPLICATION = "tests.tools.benchmarks.floors_application:application"
_CONSTANT, _SELECT, _INSERT = "constant answer", "SELECT by id", "INSERT of a student"
# Of each request, its floor, and the least share of it that is wanted.
_FLOORS: dict[str, tuple[str, float | None]] = {
    "GET by id": (_SELECT, 0.5),
    "POST of a student": (_INSERT, None),
    _SELECT: (_CONSTANT, None),
    _INSERT: (_CONSTANT, None),
}
# The rows of the floor have ids that do not follow from their keys.
_REMOVE = "DELETE FROM document WHERE body ->> 'middleName' = 'Floor'"


@dataclass(frozen=True)
class Row:
    """Medians of a request; its share of the floor, and the most microseconds of the server that it may take for it."""

    request: str
    connections: int
    per_second: float
    p50: float
    p99: float
    server: float
    database: float
    floor: str = ""
    share: float | None = None
    wanted: float | None = None


def main() -> int:
    """The command line; see the module's text."""
    options = parser_of_rounds("floors", __doc__, rounds=5, seconds=2)
    options.add_argument("--connections", type=int, nargs="+", default=[1, 16, 64, 128])
    given = options.parse_args()
    rows = measure(given.rounds, given.seconds, given.connections)
    print(f"\n{table(rows)}")
    write_json(given.json, map(asdict, rows))
    return 0


def measure(rounds: int, seconds: float, connections: Sequence[int] = (1, 16)) -> list[Row]:
    """All requests with each number of connections; the data is verified at the end."""
    with tempfile.TemporaryDirectory(prefix="meadowlark-floors-") as folder, ExitStack() as running:
        home = Path(folder, "home")
        server = running.enter_context(meadowlark(home))
        workloads = Workloads(server)
        workloads.seed(_SEEDED)
        port, process = running.enter_context(_floors(server, home))
        requests = _requests(server, workloads, port, process, seconds)
        rows = [row for number in connections for row in _rows(requests, number, rounds)]
        with psycopg.connect(server.database_url) as database:
            database.execute(_REMOVE)
        verify(server.database_url, home)
    return rows


def _floors(server: Server, home: Path) -> AbstractContextManager[tuple[int, psutil.Process]]:
    environment = {"DATABASE_URL": server.database_url, "MEADOWLARK_HOME": str(home)}
    return constant_view(home.with_name("floors"), application=_APPLICATION, **environment)


Request = Callable[[int], Measured]


def _requests(
    server: Server, workloads: Workloads, port: int, process: psutil.Process, seconds: float
) -> dict[str, Request]:
    """The requests by name, each called with the number of connections; those that are compared follow each other."""

    def sent(to: int, of: psutil.Process, made: Callable[[], list[bytes]]) -> Request:
        return lambda connections: with_costs(
            lambda: load.measure(to, made(), connections, seconds), of, server.postgres
        )

    def floor(made: Callable[[], list[bytes]], *replaced: tuple[bytes, bytes]) -> Request:
        return sent(port, process, lambda: [_with(each, replaced) for each in made()])

    def new_students() -> list[bytes]:
        return workloads.new_students(round(_NEW_PER_SECOND * seconds))

    by_id = workloads.association_by_id
    return {
        _CONSTANT: sent(port, process, lambda: [b"GET /constant HTTP/1.1\r\nHost: floors\r\n\r\n"]),
        _SELECT: floor(by_id),
        "GET by id": sent(server.port, server.gunicorn, by_id),
        _INSERT: floor(new_students, (b'"middleName":"Elena"', b'"middleName":"Floor"')),
        "POST of a student": sent(server.port, server.gunicorn, new_students),
    }


def _with(request: bytes, replaced: Iterable[tuple[bytes, bytes]]) -> bytes:
    for before, after in replaced:
        request = request.replace(before, after)
    return request


def _rows(requests: dict[str, Request], connections: int, rounds: int) -> Iterator[Row]:
    measured: defaultdict[str, list[Measured]] = defaultdict(list)
    for request in requests.values():  # Each thread gets its connection, and each connection its statements.
        request(connections)
    for _ in range(rounds):
        for name, request in requests.items():
            found = request(connections)
            if found.errors:
                raise RuntimeError(f"{name}: {found.errors} of {found.requests} requests failed.")
            measured[name].append(found)
    for name, rounds_of_it in measured.items():
        floor, wanted = _FLOORS.get(name, ("", None))
        yield Row(
            name,
            connections,
            *(median(getattr(each, figure) or 0 for each in rounds_of_it) for figure in _FIGURES),
            floor,
            _share(rounds_of_it, measured[floor]) if floor else None,
            wanted,
        )


_FIGURES = ("per_second", "p50", "p99", "server_cost", "database_cost")


def _share(measured: list[Measured], of_floor: list[Measured]) -> float:
    return median(each.per_second / floor.per_second for each, floor in zip(measured, of_floor, strict=True))


def table(rows: Iterable[Row]) -> str:
    """Return a table for a person: a line for each request."""
    head = (
        f"{'':22}{'conn.':>6}{'req/s':>9}{'p50 ms':>9}{'p99 ms':>9}{'p99/p50':>9}{'server us':>11}{'database us':>13}"
    )
    return "\n".join([f"{head}{'share of the floor':>34}", *map(_line, rows)])


def _line(row: Row) -> str:
    share = "" if row.share is None else f"{row.share:8.2f} of {row.floor}"
    missed = f", wanted {row.wanted}" if row.share is not None and row.wanted and row.share < row.wanted else ""
    times = f"{row.p50:>9.2f}{row.p99:>9.2f}{row.p99 / row.p50:>9.1f}"
    costs = f"{row.server:>11.0f}{row.database:>13.0f}"
    return f"{row.request:22}{row.connections:>6}{row.per_second:>9,.0f}{times}{costs}  {share}{missed}"


if __name__ == "__main__":
    sys.exit(main())
