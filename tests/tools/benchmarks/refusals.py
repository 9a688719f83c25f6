"""`make bench`, section `refusals`: refused requests with the ledger of refusals beside the same without it.

    python -m tests.tools.benchmarks.refusals [--rounds N] [--seconds S] [--only TEXT] [--json FILE]

Two servers are started as `make run` does, with and without the ledger, each with a database of its own. Both get the
same kinds of requests at the same time, so that whatever else the machine does slows both: refused ones, each about
another document, so that each could be an entry of its own, a refused one that is repeated, and an accepted one. What
is compared is the processor time of server and database for one request, including what the ledger's thread and
PostgreSQL do after the last answer. The ratio is the median of those of the rounds.
"""

import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median

from tests.support.server_processes import Server, meadowlark
from tests.tools.benchmarks import load
from tests.tools.benchmarks.command_line import parser_of_rounds, write_json
from tests.tools.benchmarks.costs import with_costs
from tests.tools.benchmarks.load import Measured
from tests.tools.benchmarks.verification import verify
from tests.tools.benchmarks.workloads import Workloads

_SEEDED = 300
_CONNECTIONS = 2
# More than any machine answers.
_PER_SECOND = 8000
# The thread writes once a second.
_SECONDS_TO_RECORD = 1.5
_MOST = 1.03

Requests = Callable[[Workloads, int], list[bytes]]
Side = tuple[Server, Workloads]

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
    """A request; costs are microseconds of processor time of server and database, without and with the ledger. All are
    medians of the rounds."""

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
        homes = [Path(folder, name) for name in ("without", "with")]
        sides = [
            _seeded(running.enter_context(meadowlark(home, MEADOWLARK_REFUSALS=ledger)))
            for home, ledger in zip(homes, ("0", "1"), strict=True)
        ]
        rows = [
            _row(name, [_round(sides, requests, seconds) for _ in range(1 + rounds)])
            for name, requests in _REQUESTS.items()
            if only in name
        ]
        for (server, _), home in zip(sides, homes, strict=True):
            verify(server.database_url, home)
    return rows


def _seeded(server: Server) -> Side:
    workloads = Workloads(server)
    workloads.seed(_SEEDED)
    return server, workloads


def _round(sides: Sequence[Side], requests: Requests, seconds: float) -> list[Measured]:
    """Without the ledger, and with it, at the same time."""
    made = [requests(workloads, round(_PER_SECOND * seconds)) for _, workloads in sides]
    with ThreadPoolExecutor(len(sides)) as threads:
        return list(threads.map(_measured, [server for server, _ in sides], made, [seconds] * len(sides)))


def _measured(server: Server, requests: list[bytes], seconds: float) -> Measured:
    def operation() -> Measured:
        measured = load.measure(server.port, requests, _CONNECTIONS, seconds)
        time.sleep(_SECONDS_TO_RECORD)
        return measured

    return with_costs(operation, server.gunicorn, server.postgres)


def _row(request: str, rounds: Sequence[Sequence[Measured]]) -> Row:
    """A first round does not count."""
    without, with_ledger = zip(*rounds[1:], strict=True)
    costs = [median(measured.cost for measured in each) for each in (without, with_ledger)]
    p99 = [median(measured.p99 for measured in each) for each in (without, with_ledger)]
    ratio = median(second.cost / first.cost for first, second in rounds[1:])
    row = Row(request, *costs, ratio, *p99)
    print(_line(row), flush=True)
    return row


def table(rows: Sequence[Row]) -> str:
    """Return a table for a person: a line for each request."""
    head = f"{'':32}{'us without':>12}{'us with':>10}{'ratio':>8}{'limit':>8}{'p99 ms without':>16}{'with':>8}"
    return "\n".join([head, *map(_line, rows)])


def _line(row: Row) -> str:
    verdict = "  EXCEEDED" if row.ratio > _MOST else ""
    costs = f"{row.without:>12.0f}{row.with_ledger:>10.0f}{row.ratio:>8.3f}{_MOST:>8.2f}"
    return f"{row.request:32}{costs}{row.p99_without:>16.1f}{row.p99_with:>8.1f}{verdict}"


if __name__ == "__main__":
    sys.exit(main())
