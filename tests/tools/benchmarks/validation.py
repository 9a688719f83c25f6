"""How long the bundled rules take, and how long requests take beside them.

    python -m tests.tools.benchmarks.validation [--documents N] [--rounds N] [--seconds S] [--connections N ...]
        [--json FILE]

Starts the server as `make run` does, in a temporary home, and fills its database with a district. The first run of the
rules publishes results, the second one compares with them. Then each kind of request is measured in turn without
anything beside it, and while runs with `--full` follow each other. Rounds alternate, and medians of their percentiles
are compared, since other work on the machine changes from minute to minute.
"""

import os
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path

from tests.support.server_processes import Server, meadowlark
from tests.tools.benchmarks import load
from tests.tools.benchmarks.command_line import parser_of_rounds, write_json
from tests.tools.benchmarks.filling import fill
from tests.tools.benchmarks.load import Measured
from tests.tools.benchmarks.verification import verify
from tests.tools.benchmarks.workloads import Workloads

_TOP = Path(__file__).parents[3]
_SEEDED = 300
# More than any machine answers.
_PER_SECOND = 4000
_MOST = 1.5

Requests = Callable[[Workloads, float], list[bytes]]


@dataclass(frozen=True)
class Row:
    """A request, and medians of its percentiles in milliseconds."""

    request: str
    p50_alone: float
    p99_alone: float
    p50_beside: float
    p99_beside: float


_REQUESTS: dict[str, Requests] = {
    "GET association by id": lambda workloads, _: workloads.association_by_id(),
    # Further associations of the same students would overlap, and so violate rules by the ten thousands.
    "POST student": lambda workloads, seconds: workloads.new_students(round(_PER_SECOND * seconds)),
}


def main() -> int:
    """The command line; see the module's text."""
    parser = parser_of_rounds("validation", __doc__, 5, 4)
    parser.add_argument("--documents", type=int, default=200_000, help="how many the district has")
    parser.add_argument("--connections", type=int, nargs="+", default=[1, 8])
    options = parser.parse_args()
    rows = []
    with tempfile.TemporaryDirectory(prefix="meadowlark-validation-") as folder:
        home = Path(folder, "home")
        with meadowlark(home) as server:
            fill(server.database_url, home, options.documents)
            workloads = Workloads(server)
            workloads.seed(_SEEDED)
            rules = _Rules(server, home)
            print(f"first run {rules.run():.1f} s, again with --full {rules.run('--full'):.1f} s", flush=True)
            for connections in options.connections:
                for name in (each for each in _REQUESTS if options.only in each):
                    requests = _REQUESTS[name]
                    send = partial(_sent, server.port, partial(requests, workloads), connections, options.seconds)
                    rounds = [_round(send, rules) for _ in range(options.rounds)]
                    rows.append(_row(f"{name}, {connections} connections", *zip(*rounds, strict=True)))
                    print(_line(rows[-1]), flush=True)
            verify(server.database_url, home)
    write_json(options.json, map(asdict, rows))
    return 0


class _Rules:
    """Runs the rules, in processes of their own."""

    def __init__(self, server: Server, home: Path) -> None:
        self._environment = os.environ | {"DATABASE_URL": server.database_url, "MEADOWLARK_HOME": str(home)}

    def run(self, *arguments: str) -> float:
        """The seconds that a run took."""
        began = time.monotonic()
        command = [sys.executable, "manage.py", "run_validation", *arguments]
        done = subprocess.run(command, cwd=_TOP, env=self._environment, check=False, capture_output=True, text=True)
        if done.returncode:
            sys.exit(f"The rules did not run: {done.stdout}{done.stderr}")
        return time.monotonic() - began

    @contextmanager
    def endless(self) -> Iterator[None]:
        """Full runs follow each other; at the end of the block the last one is completed."""
        is_over = threading.Event()

        def run() -> None:
            while not is_over.is_set():
                self.run("--full")

        with ThreadPoolExecutor(1) as pool:
            runs = pool.submit(run)
            try:
                yield
            finally:
                is_over.set()
            runs.result()


def _sent(port: int, requests: Callable[[float], list[bytes]], connections: int, seconds: float) -> Measured:
    return load.measure(port, requests(seconds), connections, seconds)


def _round(send: Callable[[], Measured], rules: _Rules) -> tuple[Measured, Measured]:
    """Without a run beside it, and with one."""
    alone = send()
    with rules.endless():
        # A run begins with the start of a program, which takes about as long.
        time.sleep(1)
        return alone, send()


def _row(request: str, alone: Sequence[Measured], beside: Sequence[Measured]) -> Row:
    sides = [
        [statistics.median(getattr(each, name) for each in side) for name in ("p50", "p99")] for side in (alone, beside)
    ]
    return Row(request, *sides[0], *sides[1])


def _line(row: Row) -> str:
    """For a person."""
    p50 = f"p50 {row.p50_alone:7.1f} alone {row.p50_beside:7.1f} beside {row.p50_beside / row.p50_alone:5.2f}x"
    p99 = f"p99 {row.p99_alone:7.1f} alone {row.p99_beside:7.1f} beside {row.p99_beside / row.p99_alone:5.2f}x"
    verdict = "  EXCEEDED" if row.p99_beside > _MOST * row.p99_alone else ""
    return f"{row.request:40}{p50}   {p99}{verdict}"


if __name__ == "__main__":
    sys.exit(main())
