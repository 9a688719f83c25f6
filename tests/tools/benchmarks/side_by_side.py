"""Requests to servers of several source trees or Python versions, in turn.

    python -m tests.tools.benchmarks.side_by_side SERVER ... [--connections N ...] [--rounds N] [--seconds S] [--busy N]

A SERVER is the folder of a source tree, or FOLDER:PYTHON with the interpreter of a virtual environment, and variables
of its environment, `.,MEADOWLARK_THREADS=4`; the trees are those of different commits, as `git worktree add` makes
them. All servers run at the same time, each with a database of its own, as `make run` starts them; in each round each
of them is measured, one after the other, in alternating order.

Rates are medians of the rounds. `x` is the median of the rounds' ratios to the first server: a shared machine changes
its speed by a third within minutes, so many short rounds say more than a few long ones. `server` and `database` are the
microseconds of processor time that a request took in all processes of gunicorn and of PostgreSQL, as the lower
quartile of the rounds, since other work on the machine adds to them. `--busy` starts so many processes that do nothing
but use a core.
"""

import argparse
import statistics
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.support.server_processes import Server, meadowlark
from tests.tools.benchmarks import load
from tests.tools.benchmarks.costs import with_costs
from tests.tools.benchmarks.database import copied_students
from tests.tools.benchmarks.load import Measured
from tests.tools.benchmarks.verification import verify
from tests.tools.benchmarks.workloads import Workloads

_SEEDED = 300
HEADING = f"{'':22}{'rate':>9}{'x':>7}{'server':>9}{'database':>9}{'p50 ms':>9}{'p99 ms':>9}{'p99/p50':>9}"
# More than any machine answers.
_NEW_PER_SECOND = {1: 4000}
_NEW_PER_SECOND_OF_MANY = 8000


@dataclass(frozen=True)
class Tree:
    """A server that is measured, of a source tree."""

    name: str
    top: Path
    python: str
    server: Server
    workloads: Workloads
    start_seconds: float

    def requests(self, operation: str, number: int) -> list[bytes]:
        made: dict[str, Callable[[], list[bytes]]] = {
            "GET by id": self.workloads.association_by_id,
            "page of 25": self.workloads.page_of_associations,
            "GET by query": self.workloads.association_by_student,
            "POST student": lambda: self.workloads.new_students(number),
            "POST association": lambda: self.workloads.new_associations(number),
            "again": self.workloads.same_associations,
            "changed": lambda: self.workloads.changed_associations(number),
            "PUT": lambda: self.workloads.replaced_associations(number),
            "DELETE student": lambda: self.workloads.deletions(copied_students(self.server.database_url, number)),
        }
        return made[operation]()


OPERATIONS = (
    "GET by id",
    "page of 25",
    "GET by query",
    "POST student",
    "POST association",
    "again",
    "changed",
    "PUT",
    "DELETE student",
)


def main() -> int:
    """The command line; see the module's text."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.tools.benchmarks.side_by_side", description=__doc__.split("\n")[0]
    )
    parser.add_argument("servers", nargs="+", metavar="SERVER", help="FOLDER[:PYTHON][,NAME=VALUE ...]")
    parser.add_argument("--connections", type=int, nargs="+", default=[1, 16], help="how many send requests")
    parser.add_argument("--operations", nargs="+", choices=OPERATIONS, default=OPERATIONS, help="which requests")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=2, help="how long each measurement takes")
    parser.add_argument("--busy", type=int, default=0, help="processes that use a core each")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="meadowlark-side-by-side-") as folder, ExitStack() as running:
        trees = [started(running, text, Path(folder, str(number))) for number, text in enumerate(options.servers)]
        for _ in range(options.busy):
            running.enter_context(_busy())
        print(HEADING, flush=True)
        for connections in options.connections:
            for operation in options.operations:
                compare(trees, operation, connections, options.rounds, options.seconds)
        for number, tree in enumerate(trees):
            verify(tree.server.database_url, Path(folder, str(number)), tree.top, tree.python)
    return 0


def started(running: ExitStack, text: str, home: Path) -> Tree:
    """The server of a SERVER in this home, which is stopped with the others."""
    named_tree, *variables = text.split(",")
    folder, _, named = named_tree.partition(":")
    top, python = Path(folder).resolve(), named or sys.executable
    begin = time.monotonic()
    server = running.enter_context(
        meadowlark(home, top, python, **dict(variable.split("=", 1) for variable in variables))
    )
    start_seconds = time.monotonic() - begin
    workloads = Workloads(server)
    workloads.seed(_SEEDED)
    load.measure(server.port, workloads.association_by_id(), 16, 1)
    return Tree(text.replace("MEADOWLARK_", ""), top, python, server, workloads, start_seconds)


@contextmanager
def _busy() -> Iterator[None]:
    with subprocess.Popen([sys.executable, "-c", "while True: pass"]) as process:
        try:
            yield
        finally:
            process.kill()


def compare(trees: list[Tree], operation: str, connections: int, rounds: int, seconds: float) -> None:
    """Print a line for each of them."""
    found: defaultdict[str, list[Measured]] = defaultdict(list)
    for number in range(rounds):
        for tree in trees if number % 2 == 0 else trees[::-1]:
            found[tree.name].append(_measured(tree, operation, connections, seconds))
    print(f"{operation}, {connections}")
    for tree in trees:
        print(_line(tree.name, found[tree.name], found[trees[0].name]), flush=True)


def _measured(tree: Tree, operation: str, connections: int, seconds: float) -> Measured:
    requests = tree.requests(operation, round(_NEW_PER_SECOND.get(connections, _NEW_PER_SECOND_OF_MANY) * seconds))
    server = tree.server
    measured = with_costs(
        lambda: load.measure(server.port, requests, connections, seconds), server.gunicorn, server.postgres
    )
    if measured.errors:
        raise RuntimeError(f"{tree.name}: {measured.errors} of {measured.requests} requests failed.")
    return measured


def _line(name: str, measured: list[Measured], first: list[Measured]) -> str:
    rate, p50, p99 = (_median(measured, key) for key in ("per_second", "p50", "p99"))
    costs = [
        sorted(getattr(each, key) for each in measured)[len(measured) // 4] for key in ("server_cost", "database_cost")
    ]
    times = f"{p50:9.2f}{p99:9.2f}{p99 / p50:9.1f}"
    ratio = statistics.median(each.per_second / other.per_second for each, other in zip(measured, first, strict=True))
    return f"  {name[-20:]:20}{rate:9.0f}{ratio:7.2f}{costs[0]:9.0f}{costs[1]:9.0f}{times}"


def _median(measured: list[Measured], key: str) -> float:
    return statistics.median(getattr(each, key) for each in measured)


if __name__ == "__main__":
    sys.exit(main())
