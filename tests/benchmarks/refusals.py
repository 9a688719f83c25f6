"""`make bench`, section `refusals`: refused requests with the ledger of refusals beside the same without it.

    python -m tests.benchmarks.refusals [--rounds N] [--seconds S] [--only TEXT] [--json FILE]

A server is started as `make run` does, in a temporary home, and over its database two further gunicorns, with and
without the ledger. These get the same kinds of requests in turn: refused ones, each about another document, so that
each could be an entry of its own, a refused one that is repeated, and an accepted one. What is compared is the
processor time of server and database for one request, including what the ledger's thread and PostgreSQL do after the
last answer: the least of the rounds, because other work on the machine adds to it, and takes nothing away.
"""

import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import psutil

from tests.benchmarks import load
from tests.benchmarks.command_line import parser_of_rounds, write_json
from tests.benchmarks.costs import with_costs
from tests.benchmarks.load import Measured
from tests.benchmarks.verification import verify
from tests.benchmarks.workloads import Workloads
from tests.server_processes import Server, constant_view, meadowlark

_SEEDED = 300
_CONNECTIONS = 4
# More than any machine answers.
_PER_SECOND = 8000
# The thread writes once a second.
_SECONDS_TO_RECORD = 1.5
_MOST = 1.03

Requests = Callable[[Workloads, int], list[bytes]]
# What is sent to a server, its port and its process.
Side = tuple[Workloads, int, psutil.Process]

_REQUESTS: dict[str, Requests] = {
    "200 association again": lambda workloads, _: workloads.same_associations(),
    "400 invalid student": Workloads.invalid_students,
    "409 association without school": Workloads.associations_without_school,
    "409 repeated": lambda workloads, _: workloads.associations_without_school(1),
    # Successes of a client with open refusals may resolve them.
    "200 with open refusals": lambda workloads, _: workloads.same_associations(),
}


@dataclass(frozen=True)
class Row:
    """A request; costs are microseconds of processor time of server and database, without and with the ledger."""

    request: str
    without: float
    with_ledger: float
    ratio: float
    p99_without: float
    p99_with: float


def main() -> int:
    """The command line; see the module's text."""
    options = parser_of_rounds("refusals", __doc__, 5, 3).parse_args()
    rows = measure(options.rounds, options.seconds, options.only)
    print(f"\n{table(rows)}")
    write_json(options.json, map(asdict, rows))
    return 0


def measure(rounds: int, seconds: float, only: str = "") -> list[Row]:
    """The requests with this text in their names; the data is verified at the end."""
    with tempfile.TemporaryDirectory(prefix="meadowlark-refusals-") as folder, ExitStack() as running:
        home = Path(folder, "home")
        server = running.enter_context(meadowlark(home))
        workloads = Workloads(server)
        workloads.seed(_SEEDED)
        sides = [running.enter_context(_side(server, workloads, home, ledger)) for ledger in ("0", "1")]
        rows = [
            _row(name, [_round(sides, server.postgres, requests, seconds) for _ in range(1 + rounds)])
            for name, requests in _REQUESTS.items()
            if only in name
        ]
        verify(server.database_url, home)
    return rows


@contextmanager
def _side(server: Server, workloads: Workloads, home: Path, ledger: str) -> Iterator[Side]:
    environment = {"DATABASE_URL": server.database_url, "MEADOWLARK_HOME": str(home), "MEADOWLARK_REFUSALS": ledger}
    served = constant_view(home.with_name(f"ledger-{ledger}"), application="meadowlark.wsgi", **environment)
    with served as (port, gunicorn):
        yield workloads.sent_by(replace(server, port=port)), port, gunicorn


def _round(sides: Sequence[Side], postgres: psutil.Process, requests: Requests, seconds: float) -> list[Measured]:
    """Without the ledger, and with it."""
    return [
        _measured(port, requests(workloads, round(_PER_SECOND * seconds)), seconds, gunicorn, postgres)
        for workloads, port, gunicorn in sides
    ]


def _measured(
    port: int, requests: list[bytes], seconds: float, gunicorn: psutil.Process, postgres: psutil.Process
) -> Measured:
    def operation() -> Measured:
        measured = load.measure(port, requests, _CONNECTIONS, seconds)
        time.sleep(_SECONDS_TO_RECORD)
        return measured

    return with_costs(operation, gunicorn, postgres)


def _row(request: str, rounds: Sequence[Sequence[Measured]]) -> Row:
    """A first round does not count."""
    without, with_ledger = zip(*rounds[1:], strict=True)
    costs = [min(measured.cost for measured in each) for each in (without, with_ledger)]
    p99 = [min(measured.p99 for measured in each) for each in (without, with_ledger)]
    row = Row(request, *costs, costs[1] / costs[0], *p99)
    print(_line(row), flush=True)
    return row


def table(rows: Sequence[Row]) -> str:
    """For a person: a line for each request."""
    head = f"{'':32}{'us without':>12}{'us with':>10}{'ratio':>8}{'limit':>8}{'p99 ms without':>16}{'with':>8}"
    return "\n".join([head, *map(_line, rows)])


def _line(row: Row) -> str:
    verdict = "  EXCEEDED" if row.ratio > _MOST else ""
    costs = f"{row.without:>12.0f}{row.with_ledger:>10.0f}{row.ratio:>8.3f}{_MOST:>8.2f}"
    return f"{row.request:32}{costs}{row.p99_without:>16.1f}{row.p99_with:>8.1f}{verdict}"


if __name__ == "__main__":
    sys.exit(main())
