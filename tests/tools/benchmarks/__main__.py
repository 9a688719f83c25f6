"""`make bench`: requests per second of Meadowlark, beside upper bounds by PostgreSQL and Django on the same machine.

    python -m tests.tools.benchmarks [--quick] [--json FILE] [--baseline FILE]

Starts the server as `make run` does, with PostgreSQL's full durability and in a temporary home; sends requests with
1 and with 16 connections; and measures upper bounds in the same rounds. Of writes: the write statement alone, sent by
pgbench, and one that writes document, alias and references to tables with primary keys only. Of reads, under the
same gunicorn settings: a Django view that authenticates and returns the stored body (`lean_application.py`), and one
that returns a constant; this one is also measured in plain gunicorn, to show the effect of Meadowlark's own worker.

How to read it: rates depend on the machine and its other load, ratios hardly do. Server, database and load
generator share the cores. `generator` is the share of one core that the load generator used. The rate of the trivial
responder, a loop of recv and send, is that of a server without cost: the generator is not the bottleneck while its
share is far below one core and the rate far below this one. `server` and `database` are the microseconds of processor
time that one request took in all processes of gunicorn and of PostgreSQL. "Association" is a studentSchoolAssociation
(2 references, 2 descriptors), a student has 1 descriptor; "again" repeats a stored document, "changed" changes a date,
"JWT" sends a token of another identity provider.
Below the table are the conclusions: whether the targets were met, and whether the generator was fast enough.

The section `floors` shows how much of a request is left without everything between the HTTP engine and PostgreSQL,
`queries` how long each kind of query takes in databases of two sizes, `profiles` the cost of requests
under API profiles, `refusals` the cost of the ledger of refusals, `parts` that of the parts of an answer, `SQL views`
how long queries of analysts take, and `storage` the bytes that a document takes; see the modules of these names.
"""

import argparse
import sys
import tempfile
from collections import defaultdict
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import psutil

from tests.support.server_processes import Server, constant_view, meadowlark
from tests.tools.benchmarks import floors, load, parts, profiles, queries, refusals, report, sql_views, storage
from tests.tools.benchmarks.costs import with_costs
from tests.tools.benchmarks.database import (
    bare_statement,
    copied_students,
    plain_tables,
    remove_rows_of_bare_statement,
)
from tests.tools.benchmarks.federation import Federation, identity_provider
from tests.tools.benchmarks.lean import lean_view
from tests.tools.benchmarks.load import Measured
from tests.tools.benchmarks.responder import trivial_responder
from tests.tools.benchmarks.verification import verify
from tests.tools.benchmarks.workloads import Workloads

MOST = 16
CONNECTIONS = (1, MOST)
# Enough for any machine: a run that used up its new documents would start over and measure repetitions.
_NEW_PER_SECOND = {1: 3000, MOST: 10_000}


@dataclass(frozen=True)
class Plan:
    """Duration and sizes of the run."""

    seeded: int
    rounds: int
    seconds: float
    sizes: tuple[int, ...]
    enrollments: int
    students: int
    of_each_part: int


FULL = Plan(
    seeded=2000, rounds=3, seconds=2, sizes=(100_000, 1_000_000), enrollments=100_000, students=2000, of_each_part=6000
)
QUICK = Plan(
    seeded=300, rounds=1, seconds=1, sizes=(20_000, 60_000), enrollments=10_000, students=200, of_each_part=2000
)


def main() -> int:
    """The command line; see the module's docstring."""
    parser = argparse.ArgumentParser(prog="make bench", description=__doc__.split("\n")[0])
    parser.add_argument("--quick", action="store_true", help="one short round, for a first look")
    parser.add_argument("--json", type=_new_file, help="write the result to this file too")
    parser.add_argument("--baseline", type=_baseline, help="compare with a file that --json wrote")
    options = parser.parse_args()
    plan = QUICK if options.quick else FULL
    with tempfile.TemporaryDirectory(prefix="meadowlark-bench-") as folder, ExitStack() as running:
        rounds = _measure(Path(folder), running, plan)
    found, against = report.rows(rounds), report.ratios(rounds, MOST)
    print(f"\n{report.text(found, against, options.baseline or {})}\n")
    print(f"{report.conclusions(found, against, load.name())}\n", flush=True)
    print(f"\nfloors\n{floors.table(floors.measure(plan.rounds, plan.seconds))}", flush=True)
    query_rows = queries.measure(plan.sizes, plan.seconds)
    print(f"\nqueries\n{queries.table(query_rows)}")
    profiled = profiles.measure(plan.rounds, plan.seconds)
    print(f"\nprofiles\n{profiles.table(profiled)}")
    refused = refusals.measure(plan.rounds, plan.seconds)
    print(f"\nrefusals\n{refusals.table(refused)}")
    print(f"\nparts\n{parts.table(parts.measure(plan.of_each_part))}")
    print(f"\nSQL views\n{sql_views.table(sql_views.measure(plan.enrollments))}")
    print(f"\nstorage\n{storage.table(storage.measure(plan.students))}")
    if options.json:
        options.json.write_text(report.as_json(found, against, load.name(), query_rows))
    return 1 if any(row.errors for row in [*found, *query_rows]) else 0


# Both are checked before measuring, which takes minutes.
def _new_file(name: str) -> Path:
    if not Path(name).parent.is_dir():
        raise argparse.ArgumentTypeError(f"there is no folder {Path(name).parent}")
    return Path(name)


def _baseline(name: str) -> report.Baseline:
    try:
        return report.baseline(Path(name))
    except (OSError, ValueError, LookupError, TypeError) as error:
        raise argparse.ArgumentTypeError(f"{name} cannot be compared with: {error}") from error


def _measure(folder: Path, running: ExitStack, plan: Plan) -> report.Rounds:
    home = folder / "home"
    print("Starting the servers ...", flush=True)
    federation = Federation(running.enter_context(identity_provider()), folder)
    server = running.enter_context(meadowlark(home, **federation.variables))
    ceilings = {
        report.LEAN: running.enter_context(lean_view(server, home)),
        report.CONSTANT: running.enter_context(constant_view(home)),
        report.PLAIN_CONSTANT: running.enter_context(constant_view(folder / "plain", MEADOWLARK_WORKER="gthread")),
    }
    responder_port = running.enter_context(trivial_responder())
    workloads = Workloads(server)
    print(f"Seeding {3 * plan.seeded} documents ...", flush=True)
    workloads.seed(plan.seeded)
    federated = federation.workloads(workloads, server, home)
    operations = _operations(server, workloads, federated, ceilings, responder_port)
    rounds = defaultdict(list)
    # Each thread gets its database connection, and each process the keys of the identity provider.
    for each in (workloads, federated):
        load.measure(server.port, each.association_by_id(), MOST, 1)
    for number in range(plan.rounds):
        print(f"Round {number + 1} of {plan.rounds} ...", flush=True)
        for connections in CONNECTIONS:
            for name, operation in operations.items():
                rounds[name, connections].append(operation(connections, plan.seconds))
    remove_rows_of_bare_statement(server.database_url)
    verify(server.database_url, home)
    return rounds


Operation = Callable[[int, float], Measured]


def _operations(
    server: Server,
    workloads: Workloads,
    federated: Workloads,
    ceilings: dict[str, tuple[int, psutil.Process]],
    responder_port: int,
) -> dict[str, Operation]:
    """Return the operations by name, in the order of measurement: compared operations are adjacent."""
    gunicorn, postgres = server.gunicorn, server.postgres

    def measured_here(requests: list[bytes], connections: int, seconds: float) -> Measured:
        return with_costs(lambda: load.measure(server.port, requests, connections, seconds), gunicorn, postgres)

    def repeated(requests: list[bytes]) -> Operation:
        return lambda connections, seconds: measured_here(requests, connections, seconds)

    def responder(connections: int, seconds: float) -> Measured:
        return load.measure(responder_port, workloads.association_by_id(), connections, seconds)

    def ceiling(name: str, database: psutil.Process | None = None) -> Operation:
        port, process = ceilings[name]
        requests = workloads.association_by_id()
        return lambda connections, seconds: with_costs(
            lambda: load.measure(port, requests, connections, seconds), process, database
        )

    def in_postgres(measure: Callable[[str, int, float], Measured]) -> Operation:
        return lambda connections, seconds: with_costs(
            lambda: measure(server.database_url, connections, seconds), None, postgres
        )

    def each_once(new_requests: Callable[[int], list[bytes]]) -> Operation:
        def operation(connections: int, seconds: float) -> Measured:
            requests = new_requests(round(_NEW_PER_SECOND[connections] * seconds))
            measured = measured_here(requests, connections, seconds)
            if measured.requests >= len(requests):
                raise RuntimeError("The machine is faster than foreseen; raise _NEW_PER_SECOND.")
            return measured

        return operation

    def deletions(documents: int) -> list[bytes]:
        return workloads.deletions(copied_students(server.database_url, documents))

    return {
        report.RESPONDER: responder,
        "POST student": each_once(workloads.new_students),
        report.STATEMENT: in_postgres(bare_statement),
        report.PLAIN_TABLES: in_postgres(plain_tables),
        "POST association": each_once(workloads.new_associations),
        "POST association again": repeated(workloads.same_associations()),
        "POST association changed": each_once(workloads.changed_associations),
        "PUT association changed": each_once(workloads.replaced_associations),
        "GET association by id": repeated(workloads.association_by_id()),
        report.FEDERATED: repeated(federated.association_by_id()),
        report.LEAN: ceiling(report.LEAN, postgres),
        report.CONSTANT: ceiling(report.CONSTANT),
        report.PLAIN_CONSTANT: ceiling(report.PLAIN_CONSTANT),
        "GET student by id": repeated(workloads.student_by_id()),
        "GET association by query": repeated(workloads.association_by_student()),
        "GET page of 25 associations": repeated(workloads.page_of_associations()),
        "DELETE student": each_once(deletions),
    }


if __name__ == "__main__":
    sys.exit(main())
