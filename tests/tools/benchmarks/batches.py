"""How fast batches are beside single requests, over HTTP, with 16 connections.

    python -m tests.tools.benchmarks.batches [--quick] [--only TEXT] [--json FILE]

Starts the server as `make run` does, in a temporary home, with the limits of batches raised to the connections. Rates
are operations per second, `server` and `database` microseconds of processor time for one operation; on a machine that
has other things to do, these tell more. `times` is the rate divided by that of the single request in the same round.
Batches have 500 operations, those that are as slow as single requests 50. An association has 2 references and 2
descriptors. The restricted client has the claim set SISVendor and all schools. The last rows are single requests again:
beside a client that sends batches without pause.
"""

import json
import os
import sys
import tempfile
import threading
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import httpx

from tests.support.ports import ADDRESS
from tests.support.server_processes import Server, meadowlark, token_of_new_client
from tests.tools.benchmarks import command_line, load
from tests.tools.benchmarks.costs import with_costs
from tests.tools.benchmarks.verification import verify
from tests.tools.benchmarks.workloads import SCHOOLS, Body, Workloads

SIZE = 500
# Of batches that are as slow as single requests, so that several end while they are measured.
SMALL = 50
CONNECTIONS = 16
# More operations than any machine carries out in a second.
_PER_SECOND = 12_000


@dataclass(frozen=True)
class Row:
    """One measurement: operations per second and their costs; `times` compares with the single request."""

    what: str
    per_second: float
    times: float
    p99: float
    server_cost: float
    database_cost: float


def main() -> int:
    """The command line; see the module's text."""
    parser = command_line.parser("batches", __doc__)
    parser.add_argument("--quick", action="store_true", help="three seconds each, for a first look")
    parser.add_argument("--only", default="", help="the single requests, and the rows whose names contain this text")
    options = parser.parse_args()
    os.environ |= {f"MEADOWLARK_BATCHES_{name}": f"{CONNECTIONS}" for name in ("AT_ONCE", "PER_CLIENT")}
    with tempfile.TemporaryDirectory(prefix="meadowlark-batches-") as folder:
        home = Path(folder) / "home"
        with meadowlark(home) as server:
            rows = []
            for row in measure(server, home, 3 if options.quick else 8, options.only):
                print(_line(row), flush=True)
                rows.append(row)
            verify(server.database_url, home)
    command_line.write_json(options.json, map(asdict, rows))
    return 0


def _line(row: Row) -> str:
    costs = f"{row.server_cost:9,.0f}{row.database_cost:11,.0f}"
    return f"{row.what:44}{row.per_second:9,.0f}/s{row.times:7.2f}x{row.p99:9.1f} ms p99{costs}"


def measure(server: Server, home: Path, seconds: float, only: str = "") -> Iterator[Row]:
    """All rows, each as it is measured, or the first one and those whose names contain a text."""
    return (row for row in _rows(server, home, seconds, only) if row is not None)


def _rows(server: Server, home: Path, seconds: float, only: str) -> Iterator[Row | None]:
    workloads = Workloads(server)
    workloads.seed(2000)
    found = _Measurements(server, seconds, only)
    associations = workloads.association_bodies()
    yield found.singles("POST association", workloads.new_associations(round(4000 * seconds)))
    for mode in ("independent", "atomic"):
        yield found.batches(f"associations, {mode}", _of("studentSchoolAssociations", associations), f"mode={mode}")
    vendor = _vendor_token(server, home)
    operations = _of("studentSchoolAssociations", associations)
    yield found.batches("associations, restricted client", operations, "mode=independent", vendor)
    unchanged = [_operation("studentSchoolAssociations", body) for body in workloads.stored_association_bodies()]
    yield found.batches("associations, unchanged", _again(unchanged), "mode=independent")
    yield found.batches("five resources, sorted", _sorted(workloads.families()), "mode=independent")
    alternating = _alternating(workloads.families())
    yield found.batches("five resources, alternating", alternating, "mode=independent", size=SMALL)
    free = "mode=independent&order=free"
    yield found.batches("five resources, alternating, free order", _alternating(workloads.families()), free)
    yield found.batches("associations, every tenth refused", _refused(operations, 10), "mode=independent")
    yield found.batches("associations, all refused", _refused(operations, 1), "mode=independent")
    for mode in ("independent", "atomic"):
        yield found.batches(f"associations, batches of one, {mode}", operations, f"mode={mode}", size=1)
    yield found.singles("POST association", workloads.new_associations(round(4000 * seconds)))
    with _EndlessBatches(server, operations):
        yield found.singles("POST association beside batches", workloads.new_associations(round(4000 * seconds)))


class _Measurements:
    """Measures rows; gives None for those that are left out."""

    def __init__(self, server: Server, seconds: float, only: str) -> None:
        self._server = server
        self._seconds = seconds
        self._only = only
        self._single = 0.0

    def singles(self, what: str, requests: list[bytes]) -> Row | None:
        if self._single and self._only not in what:
            return None
        row = self._measured(what, requests, 1)
        self._single = self._single or row.per_second
        return row

    def batches(
        self, what: str, operations: Iterable[Body], query: str, token: str = "", size: int = SIZE
    ) -> Row | None:
        if self._only not in what:
            return None
        count = round(_PER_SECOND * self._seconds / size) if size > 1 else round(4000 * self._seconds)
        source = iter(operations)
        requests = [_request(self._server, list(islice(source, size)), query, token) for _ in range(count)]
        return self._measured(what, requests, size)

    def _measured(self, what: str, requests: list[bytes], size: int) -> Row:
        server = self._server
        measured = with_costs(
            lambda: load.measure(server.port, requests, CONNECTIONS, self._seconds), server.gunicorn, server.postgres
        )
        if measured.errors or measured.requests >= len(requests):
            raise RuntimeError(f"{what}: not a measurement: {measured}")
        rate = measured.per_second * size
        return Row(
            what,
            rate,
            rate / self._single if self._single else 1,
            measured.p99,
            (measured.server_cost or 0) / size,
            (measured.database_cost or 0) / size,
        )


def _operation(endpoint: str, body: Body) -> Body:
    return {"resource": f"/ed-fi/{endpoint}", "document": body}


def _of(endpoint: str, bodies: Iterable[Body]) -> Iterator[Body]:
    return (_operation(endpoint, body) for body in bodies)


def _again(operations: list[Body]) -> Iterator[Body]:
    while True:
        yield from operations


def _alternating(families: Iterable[list[tuple[str, Body]]]) -> Iterator[Body]:
    return (_operation(endpoint, body) for family in families for endpoint, body in family)


def _sorted(families: Iterator[list[tuple[str, Body]]]) -> Iterator[Body]:
    while True:
        some = [next(families) for _ in range(SIZE // 5)]
        for together in zip(*some, strict=True):
            yield from (_operation(endpoint, body) for endpoint, body in together)


def _refused(operations: Iterator[Body], each: int) -> Iterator[Body]:
    """Some refer to a student who does not exist."""
    for number, operation in enumerate(operations):
        missing = {"studentReference": {"studentUniqueId": f"missing {number}"}} if number % each == 0 else {}
        yield operation | {"document": operation["document"] | missing}


def _request(server: Server, operations: list[Body], query: str, token: str = "") -> bytes:
    content = json.dumps(operations, separators=(",", ":")).encode()
    head = [f"POST /batch?{query} HTTP/1.1", f"Host: {ADDRESS}:{server.port}"]
    head += [f"Authorization: Bearer {token or server.token}", "Content-Type: application/json"]
    return "\r\n".join([*head, f"Content-Length: {len(content)}", "", ""]).encode() + content


def _vendor_token(server: Server, home: Path) -> str:
    options = ["--claim-set", "SISVendor"]
    options += [word for school in SCHOOLS for word in ("--education-organization-id", str(school))]
    environment = {"DATABASE_URL": server.database_url, "MEADOWLARK_HOME": str(home)}
    return token_of_new_client(server, environment, "restricted", *options)


class _EndlessBatches:
    """A client that sends one batch after the other while the block lasts."""

    def __init__(self, server: Server, operations: Iterator[Body]) -> None:
        self._server = server
        self._operations = operations
        self._ends = threading.Event()
        self._thread = threading.Thread(target=self._send)

    def __enter__(self) -> None:
        self._thread.start()

    def __exit__(self, *_: object) -> None:
        self._ends.set()
        self._thread.join()

    def _send(self) -> None:
        headers = {"Authorization": f"Bearer {self._server.token}"}
        with httpx.Client(base_url=f"http://{ADDRESS}:{self._server.port}", headers=headers, timeout=60) as client:
            while not self._ends.is_set():
                some: Any = list(islice(self._operations, SIZE))
                client.post("/batch?mode=independent", json=some).raise_for_status()


if __name__ == "__main__":
    sys.exit(main())
