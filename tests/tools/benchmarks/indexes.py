"""Comparison of indexes on bodies: their cost for writes and disk space, and their gain for pages.

    python -m tests.tools.benchmarks.indexes [--size N] [--rounds N] [--seconds S] [--json FILE]

In a temporary server with PostgreSQL's full durability it creates, in each round, one index after the other on the
same documents. `writes` are those of the bare upsert statement by 8 connections of pgbench; `log` is the write-ahead
log of one write in bytes, which is independent of other load. The columns of pages are milliseconds of the condition
alone, which finds the first 25 rows like the index branch of a page, without the scan of near rows before it.
"""

import json
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median

import psycopg

from meadowlark.run.embedded_postgres import EmbeddedPostgres
from tests.core.queries.place import place
from tests.core.queries.shapes import RESOURCE, Place
from tests.tools.benchmarks import command_line
from tests.tools.benchmarks.database import bare_statement, remove_rows_of_bare_statement
from tests.tools.benchmarks.filling import fill
from tests.tools.benchmarks.verification import verify
from tests.tools.seeding import district

_CONNECTIONS = 8
_INDEX = "document_scoped_body"
_BY_TYPE = "d.resource_type_id = {type} AND d.body @> '{example}'"
_SCOPED = """scoped_body(d.resource_type_id, d.body) @> '{{"{type}": {example}}}'"""
_GIN = "CREATE INDEX body_of_{name} ON document USING gin ({expression} jsonb_path_ops) {rest}"

# Queryable members: members of the root that are no arrays, and reference objects.
_QUERYABLE_BODY = """
CREATE FUNCTION queryable_body(resource_type_id smallint, body jsonb) RETURNS jsonb
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE RETURN (
    SELECT jsonb_build_object(resource_type_id, jsonb_object_agg(key, value)) FROM jsonb_each(body)
     WHERE jsonb_typeof(value) <> 'array' AND (jsonb_typeof(value) <> 'object' OR key LIKE '%Reference'))
"""


@dataclass(frozen=True)
class Scheme:
    """An index on bodies: the statement that creates it, and the condition that uses it."""

    name: str
    indexes: tuple[str, ...]
    condition: str = _BY_TYPE


@dataclass(frozen=True)
class Question:
    """A resource, and a JSON object that the requested documents contain."""

    resource: str
    example: Mapping[str, object]


@dataclass(frozen=True)
class Row:
    """One scheme in one round, or the medians of all."""

    scheme: str
    megabytes: float
    build_seconds: float
    writes: float
    log: float
    pages: dict[str, float]


def main() -> int:
    """The command line; see the module's docstring."""
    parser = command_line.parser("indexes", __doc__)
    parser.add_argument("--size", type=int, default=100_000, help="documents in the database")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=3, help="how long writes are measured each time")
    options = parser.parse_args()
    rounds: dict[str, list[Row]] = defaultdict(list)
    with tempfile.TemporaryDirectory(prefix="meadowlark-indexes-") as folder, EmbeddedPostgres(Path(folder)) as server:
        fill(server.url, Path(folder), options.size)
        with psycopg.connect(server.url, autocommit=True) as connection:
            connection.execute(f"DROP INDEX {_INDEX}")
            connection.execute(_QUERYABLE_BODY)
            schemes, questions = _schemes(connection), _questions(place(connection))
            for number in range(options.rounds):
                print(f"Round {number + 1} of {options.rounds} ...", flush=True)
                for scheme in schemes:
                    rounds[scheme.name].append(_measure(scheme, questions, connection, server.url, options.seconds))
        remove_rows_of_bare_statement(server.url)
        verify(server.url, Path(folder))
    rows = [_median(measured) for measured in rounds.values()]
    print(_table(rows))
    command_line.write_json(options.json, map(asdict, rows))
    return 0


def _schemes(connection: psycopg.Connection) -> list[Scheme]:
    types = [number for (number,) in connection.execute("SELECT id FROM resource_type").fetchall()]
    scoped = "scoped_body(resource_type_id, body)"
    return [
        Scheme("none", ()),
        Scheme("body", (_gin("all", "body"),)),
        Scheme("scoped body", (_gin("all", scoped),), _SCOPED),
        Scheme("scoped, no fastupdate", (_gin("all", scoped, "WITH (fastupdate = off)"),), _SCOPED),
        Scheme(
            "queryable members",
            (_gin("all", "queryable_body(resource_type_id, body)"),),
            _SCOPED.replace("scoped_body", "queryable_body"),
        ),
        Scheme(
            "an index a resource",
            tuple(_gin(str(number), "body", f"WHERE resource_type_id = {number}") for number in types),
        ),
    ]


def _gin(name: str, expression: str, rest: str = "") -> str:
    return _GIN.format(name=name, expression=expression, rest=rest)


def _questions(there: Place) -> dict[str, Question]:
    """Queries by name. `enrolled` searches for a value that is far more frequent in other resources."""
    school = district.school_id(there.schools - 1)
    student = district.student_unique_id(there.schools - 1, 1)
    return {
        "student": Question(RESOURCE, {"studentReference": {"studentUniqueId": student}}),
        "school": Question(RESOURCE, {"schoolReference": {"schoolId": school}}),
        "1 in 300": Question(RESOURCE, {"attendanceEventReason": district.REASON}),
        "no match": Question(RESOURCE, {"attendanceEventReason": "None of these"}),
        "enrolled": Question("StudentSchoolAssociation", {"schoolReference": {"schoolId": school}}),
    }


def _measure(
    scheme: Scheme,
    questions: Mapping[str, Question],
    connection: psycopg.Connection,
    database_url: str,
    seconds: float,
) -> Row:
    before, started = _bytes(connection), time.monotonic()
    for index in scheme.indexes:
        connection.execute(index)
    build_seconds = time.monotonic() - started
    size = _bytes(connection) - before
    connection.execute("VACUUM (ANALYZE) document")
    pages = {name: _page(scheme, question, connection) for name, question in questions.items()}
    log = _log(connection)
    measured = bare_statement(database_url, _CONNECTIONS, seconds)
    per_write = (_log(connection) - log) / measured.requests
    for (name,) in connection.execute("SELECT indexrelid::regclass::text FROM pg_index").fetchall():
        if name.startswith("body_of_"):
            connection.execute(f"DROP INDEX {name}")
    return Row(scheme.name, size / 2**20, build_seconds, measured.per_second, per_write, pages)


def _page(scheme: Scheme, question: Question, connection: psycopg.Connection) -> float:
    """The shortest of several runs, in milliseconds; the resource type is a constant, as partial indexes require."""
    (type_,) = connection.execute("SELECT id FROM resource_type WHERE name = %s", [question.resource]).fetchone() or (
        0,
    )
    condition = scheme.condition.format(type=type_, example=json.dumps(question.example))
    query = f"SELECT id FROM document d WHERE {condition} ORDER BY id + 0 LIMIT 25"
    times = []
    for _ in range(5):
        started = time.perf_counter()
        connection.execute(query, prepare=False).fetchall()  # type: ignore[call-overload]
        times.append(time.perf_counter() - started)
    return 1000 * min(times)


def _bytes(connection: psycopg.Connection) -> int:
    (size,) = connection.execute("SELECT pg_indexes_size('document')").fetchone() or (0,)
    return size


def _log(connection: psycopg.Connection) -> int:
    (position,) = connection.execute("SELECT pg_current_wal_insert_lsn() - '0/0'").fetchone() or (0,)
    return int(position)


def _median(rows: list[Row]) -> Row:
    return Row(
        rows[0].scheme,
        median(row.megabytes for row in rows),
        median(row.build_seconds for row in rows),
        median(row.writes for row in rows),
        median(row.log for row in rows),
        {name: median(row.pages[name] for row in rows) for name in rows[0].pages},
    )


def _table(rows: list[Row]) -> str:
    questions = list(rows[0].pages)
    lines = [f"{'':24}{'MB':>8}{'build s':>9}{'writes/s':>10}{'log':>8}" + "".join(f"{name:>10}" for name in questions)]
    for row in rows:
        line = f"{row.scheme:24}{row.megabytes:>8.1f}{row.build_seconds:>9.1f}{row.writes:>10,.0f}{row.log:>8,.0f}"
        lines.append(line + "".join(f"{row.pages[name]:>10.2f}" for name in questions))
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())
