"""`make bench-data-stores`: what data stores cost, and what the outage of one costs the others.

    python -m tests.tools.benchmarks.data_stores [--registered N] [--databases N] [--seconds S]

One worker with eight threads answers GET by id from 16 connections: of the admin database without route qualifiers,
then of one, 31 and 200 data stores, chosen at random, of which so many are registered, on PostgreSQL itself and through
PgBouncer in transaction mode. The stores in use share a few databases, because what a worker keeps it keeps for each
store. `server` and `database` are the microseconds of processor time of one request, `MB` is the worker's own memory
(unique set size), `sessions` are its connections to stores. Then a store is measured alone, beside one on a second
PostgreSQL that is read too, and while that PostgreSQL is killed and started again.
"""

import argparse
import random
import shutil
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from pathlib import Path

import psutil
import psycopg

from tests.support.homes import make_prepared_home
from tests.tools.benchmarks import load
from tests.tools.benchmarks.costs import with_costs
from tests.tools.benchmarks.registered_stores import DISTRICT, RegisteredStores, StoreServer
from tests.tools.benchmarks.verification import verify
from tests.whole.robustness.other_server import postmaster
from tests.whole.robustness.pgbouncer import running_pooler
from tests.whole.robustness.real_server import RealServer

CONNECTIONS = 16
# As many as a worker of eight threads keeps connections for, less one; and far more.
IN_USE = (1, 31, 200)
_REQUESTS = 5000
_STUDENT = {"studentUniqueId": "1", "firstName": "Mae", "lastSurname": "Ortiz", "birthDate": "2010-02-03"}
_SESSIONS = "SELECT count(*) FROM pg_stat_activity WHERE application_name LIKE 'meadowlark/%'"


def main() -> int:
    """The command line; see the module's docstring."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.tools.benchmarks.data_stores", description=__doc__.split("\n")[0]
    )
    parser.add_argument("--registered", type=int, default=5000)
    parser.add_argument("--databases", type=int, default=10, help="that the stores in use share")
    parser.add_argument("--seconds", type=float, default=5, help="how long each measurement takes")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="meadowlark-stores-") as folder, ExitStack() as running:
        top = Path(folder)
        top.chmod(0o755)
        for name in ("stores", "other"):
            (top / name).mkdir()
        home = make_prepared_home(top)
        control = running.enter_context(RealServer(home, MEADOWLARK_WORKERS="1", MEADOWLARK_THREADS="8"))
        student = _student(control)
        print(f"{'':34}{'rate':>8}{'server':>8}{'database':>10}{'p50 ms':>8}{'p99 ms':>8}{'MB':>6}{'sessions':>10}")
        _measure("no data stores", control, [_request(control, "", student)], options.seconds)
        stores = RegisteredStores(control, options.databases)
        stores.register(1, options.registered)
        server = running.enter_context(StoreServer(top / "stores", control))
        for number in IN_USE:
            requests = _requests(server, student, range(1, number + 1))
            _measure(f"{number} of {options.registered} stores", server, requests, options.seconds)
        if shutil.which("pgbouncer"):
            pooler = running.enter_context(running_pooler(control.data, control.database_url, top))
            stores.lead_to(f"{pooler}?pool=transaction")
            for number in (IN_USE[0], IN_USE[-1]):
                requests = _requests(server, student, range(1, number + 1))
                _measure(f"{number} through PgBouncer", server, requests, options.seconds)
        else:
            print("through PgBouncer: skipped, needs the program pgbouncer (Debian: apt-get install pgbouncer)")
        stores.lead_to(control.database_url)
        _measure_outage(server, stores, student, top / "other", options.seconds)
        verify(control.database_url, control.home)
    return 0


def _student(server: RealServer) -> str:
    with server.client() as client:
        answer = client.send("POST", "/data/ed-fi/students", _STUDENT)
    return answer.headers["Location"].rpartition("/")[2]


def _request(server: RealServer, context: str, student: str) -> bytes:
    head = [f"GET {context}/data/ed-fi/students/{student} HTTP/1.1", f"Host: 127.0.0.1:{server.port}"]
    return "\r\n".join([*head, f"Authorization: Bearer {server.token}", "", ""]).encode()


def _requests(server: RealServer, student: str, stores: range) -> list[bytes]:
    chosen = random.Random(1)  # noqa: S311  not a secret
    return [_request(server, f"/{chosen.choice(stores)}", student) for _ in range(_REQUESTS)]


def _measure(name: str, server: RealServer, requests: list[bytes], seconds: float) -> None:
    _wait_until_noticed()
    load.measure(server.port, requests, CONNECTIONS, 1)
    measured = with_costs(
        lambda: load.measure(server.port, requests, CONNECTIONS, seconds),
        psutil.Process(server.gunicorn.pid),
        psutil.Process(postmaster(server.data)),
    )
    if measured.errors:
        raise RuntimeError(f"{name}: {measured.errors} of {measured.requests} requests failed")
    with psycopg.connect(server.database_url) as database:
        row = database.execute(_SESSIONS).fetchone()
    [worker] = server.workers()
    memory = worker.memory_full_info().uss / 2**20
    costs = f"{measured.server_cost:8.0f}{measured.database_cost:10.0f}"
    times = f"{measured.p50:8.2f}{measured.p99:8.2f}"
    print(f"{name:34}{measured.per_second:8.0f}{costs}{times}{memory:6.0f}{row[0] if row else 0:10}", flush=True)


def _wait_until_noticed() -> None:
    """Changed connection strings are, within a second."""
    time.sleep(2)


def _measure_outage(server: StoreServer, stores: RegisteredStores, student: str, home: Path, seconds: float) -> None:
    steady = [_request(server, "/1", student)]
    with stores.on_another_server(DISTRICT, home) as other:
        _wait_until_noticed()
        _line("a store alone", load.measure(server.port, steady, CONNECTIONS, seconds))
        with _under_load(server, f"/{DISTRICT}/data/ed-fi/students/{student}") as seen:
            _line("beside another under load", load.measure(server.port, steady, CONNECTIONS, seconds))
            before = set(seen)
            if before != {200}:
                raise RuntimeError(f"the other store answers {before}")
            with ThreadPoolExecutor(1) as beside:
                measured = beside.submit(load.measure, server.port, steady, CONNECTIONS, seconds)
                other.restart(seconds)
            _line("while the server of that one is down", measured.result())
            begin = time.monotonic()
            while not seen or seen[-1] != 200:
                if time.monotonic() > begin + 60:
                    raise TimeoutError(f"the store is not answered again, but {Counter(seen)}")
                time.sleep(0.05)
            healed = time.monotonic() - begin
        print(f"answers of the other store: {sorted(before)} before, {sorted(set(seen))} in all;", end=" ")
        print(f"answered again {healed:.1f} s after its server was up")


@contextmanager
def _under_load(server: RealServer, path: str) -> Iterator[list[int]]:
    """One client reads the path again and again; yields the statuses of its answers."""
    statuses: list[int] = []
    is_stopping = threading.Event()

    def read() -> None:
        with server.client() as client:
            while not is_stopping.is_set():
                statuses.append(client.send("GET", path).status)

    thread = threading.Thread(target=read)
    thread.start()
    try:
        yield statuses
    finally:
        is_stopping.set()
        thread.join()


def _line(name: str, measured: load.Measured) -> None:
    print(
        f"{name:38}{measured.per_second:6.0f}/s  p50 {measured.p50:.2f} ms  p99 {measured.p99:.2f} ms"
        f"  {measured.errors} errors",
        flush=True,
    )


if __name__ == "__main__":
    sys.exit(main())
