"""`make bench`, section `queries`: the duration of each kind of query in a smaller and a larger database.

    python -m tests.tools.benchmarks.queries [--sizes N ...] [--seconds S] [--json FILE]

For each size the server is started as by `make run`, in a temporary home, and its database filled with a `district`.
Then one connection repeats each query. `x id` is the ratio of its time to that of GET by id, as medians of the same
run; the last column compares this ratio for the largest and the smallest size: for pages it should stay below 3, for
counting and skipping it grows with the size.
"""

import sys
import tempfile
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import httpx
import psycopg

from tests.core.queries.place import place
from tests.core.queries.shapes import INDEXES, RESOURCE, comparisons, counts, pages
from tests.support.server_processes import ADDRESS, Server, meadowlark
from tests.tools.benchmarks import command_line, load
from tests.tools.benchmarks.filling import create_indexes, fill
from tests.tools.benchmarks.verification import verify

_SIZES = (100_000, 1_000_000)
_DATA = "/data/ed-fi"
_BY_ID = "GET by id"
_LONGEST_SECONDS = 300
_ID = """
SELECT document_uuid FROM document d JOIN resource_type t ON t.id = d.resource_type_id WHERE t.name = %s LIMIT 1
"""


@dataclass(frozen=True)
class Row:
    """One query in a database of one size; times in milliseconds."""

    size: int
    question: str
    documents: int
    p50: float
    p99: float
    to_id: float
    errors: int


def main() -> int:
    """The command line; see the module's docstring."""
    parser = command_line.parser("queries", __doc__)
    parser.add_argument("--sizes", type=int, nargs="+", default=_SIZES, help="documents in the database")
    parser.add_argument("--seconds", type=float, default=1, help="how long each query is measured")
    options = parser.parse_args()
    rows = measure(options.sizes, options.seconds)
    print(table(rows))
    command_line.write_json(options.json, map(asdict, rows))
    return 1 if any(row.errors for row in rows) else 0


def measure(sizes: Sequence[int], seconds: float) -> list[Row]:
    """All queries in databases of these sizes, one after the other."""
    rows = []
    for size in sizes:
        prefix = "meadowlark-queries-"
        with tempfile.TemporaryDirectory(prefix=prefix) as folder, meadowlark(Path(folder, "home")) as server:
            print(f"Filling a database with {size:,} documents ...", flush=True)
            fill(server.database_url, Path(folder, "home"), size)
            create_indexes(server.database_url, Path(folder, "home"), INDEXES)
            rows += _measure_all(server, size, seconds)
            verify(server.database_url, Path(folder, "home"))
    return rows


def _measure_all(server: Server, size: int, seconds: float) -> list[Row]:
    with psycopg.connect(server.database_url) as connection:
        there = place(connection)
        (id_,) = connection.execute(_ID, [RESOURCE]).fetchone() or ("",)
    questions = {_BY_ID: f"/studentSchoolAttendanceEvents/{id_}", **pages(there), **comparisons(there), **counts(there)}
    rows: list[Row] = []
    for question, path in questions.items():
        documents = _documents(server, path)
        measured = load.measure(server.port, [_request(server, path)], 1, seconds)
        to_id = measured.p50 / rows[0].p50 if rows else 1
        rows.append(Row(size, question, documents, measured.p50, measured.p99, to_id, measured.errors))
        failed = f"  {measured.errors} FAILED" if measured.errors else ""
        print(f"{question:36}{documents:>6}{measured.p50:>10.2f} ms{failed}", flush=True)
    return rows


def _documents(server: Server, path: str) -> int:
    """The number of documents in the answer; also warms up before the measurement."""
    headers = {"Authorization": f"Bearer {server.token}"}
    url = f"http://{ADDRESS}:{server.port}{_DATA}{path}"
    answer = httpx.get(url, headers=headers, timeout=_LONGEST_SECONDS).raise_for_status().json()
    return len(answer) if isinstance(answer, list) else 1


def _request(server: Server, path: str) -> bytes:
    head = [f"GET {_DATA}{path} HTTP/1.1", f"Host: {ADDRESS}:{server.port}", f"Authorization: Bearer {server.token}"]
    return "\r\n".join([*head, "", ""]).encode()


def table(rows: Sequence[Row]) -> str:
    """A readable table: a line for each query, with the sizes side by side."""
    sizes = list(dict.fromkeys(row.size for row in rows))
    found = {(row.size, row.question): row for row in rows}
    lines = [f"{'':36}" + "".join(f"{f'{size:,} documents':>37}" for size in sizes)]
    lines.append(f"{'':36}" + f"{'rows':>7}{'p50 ms':>11}{'p99 ms':>11}{'x id':>8}" * len(sizes) + f"{'growth':>8}")
    for question in dict.fromkeys(row.question for row in rows):
        line = f"{question:36}"
        for size in sizes:
            row = found[size, question]
            line += f"{row.documents:>7}{row.p50:>11.2f}{row.p99:>11.2f}{row.to_id:>8.1f}"
        lines.append(f"{line}{found[sizes[-1], question].to_id / found[sizes[0], question].to_id:>8.1f}")
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())
