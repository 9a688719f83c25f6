"""`make bench-sql-views`: queries of analysts through the live views, compared with plain tables.

    python -m tests.tools.benchmarks.sql_views [--enrollments N] [--students N]

Beside N enrollments there are students, associations with addresses, and attendance events in the proportions of a
district (0.4, 0.3 and 0.5 of N), cloned from one document each without triggers. `plain` are tables filled from the
views, with primary keys. Each figure is the least processor time of PostgreSQL's process (`/proc`, so on Linux, for a
server on this machine) in three runs, without parallel workers; `x plain` is the ratio of the two, and should stay
below the limit if there is one. Then: how long a client that writes waits while views are dropped and created, and how
long a copy takes to be refreshed after 1,000 changes.
"""

import argparse
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

import psycopg

from meadowlark.run.embedded_postgres import SUPERUSER, url_of
from tests.features.sql_views.clones import clone
from tests.support.server_processes import command, meadowlark
from tests.tools.benchmarks import thirty_questions
from tests.tools.benchmarks.filling import fill
from tests.tools.benchmarks.processor_time import RUNS, processor_time

_ENROLLMENTS = 1_000_000
_CLONED_SCHOOLS = 1_000
_CHANGES = 1_000
_CHANGE = "UPDATE document SET change_version = nextval('change_version') WHERE id = ANY (%s)"

_TABLES = {
    "student": "studentusi",
    "studentschoolassociation": "entrydate, schoolid, studentusi",
    "school": "schoolid",
    "educationorganization": "educationorganizationid",
    "descriptor": "descriptorid",
    "studenteducationorganizationassociationaddress": (
        "studentusi, educationorganizationid, addresstypedescriptorid, city, postalcode, stateabbreviationdescriptorid,"
        " streetnumbername"
    ),
}
# Query, SQL, and the limit of the ratio.
QUESTIONS: tuple[tuple[str, str, float | None], ...] = (
    ("count of enrollments", "SELECT count(*) FROM {s}.studentschoolassociation", 20),
    ("distinct students", "SELECT count(DISTINCT studentusi) FROM {s}.studentschoolassociation", 15),
    (
        "students with enrollments",
        "SELECT count(s.lastsurname) FROM {s}.student s JOIN {s}.studentschoolassociation e USING (studentusi)",
        3,
    ),
    (
        "one school, with names",
        "SELECT s.firstname, o.nameofinstitution FROM {s}.student s JOIN {s}.studentschoolassociation e"
        " USING (studentusi) JOIN {s}.educationorganization o ON o.educationorganizationid = e.schoolid"
        " WHERE e.schoolid = 770000002 AND e.exitwithdrawdate IS NULL",
        20,
    ),
    (
        "enrollments by school",
        "SELECT o.nameofinstitution, count(*) FROM {s}.studentschoolassociation e JOIN {s}.educationorganization o"
        " ON o.educationorganizationid = e.schoolid GROUP BY 1",
        6,
    ),
    (
        "enrollments of a grade level",
        "SELECT count(*) FROM {s}.studentschoolassociation e JOIN {s}.descriptor g"
        " ON g.descriptorid = e.entrygradeleveldescriptorid WHERE g.codevalue = 'Ninth grade'",
        20,
    ),
    ("one student by USI", "SELECT * FROM {s}.student WHERE studentusi = {usi}", None),
    ("one student by unique id", "SELECT * FROM {s}.student WHERE studentuniqueid = 'B7'", None),
    (
        "students without enrollment",
        "SELECT count(*) FROM {s}.student s WHERE NOT EXISTS (SELECT FROM {s}.studentschoolassociation e"
        " WHERE e.studentusi = s.studentusi)",
        3,
    ),
    ("all columns of all enrollments", "SELECT * FROM {s}.studentschoolassociation", None),
    (
        "addresses by city",
        "SELECT city, count(*) FROM {s}.studenteducationorganizationassociationaddress GROUP BY 1",
        35,
    ),
    (
        "addresses of one school",
        "SELECT a.* FROM {s}.studenteducationorganizationassociationaddress a"
        " WHERE a.educationorganizationid = 770000002",
        None,
    ),
)


@dataclass(frozen=True)
class Row:
    """A query: milliseconds of planning, and of processor time over the views and over plain tables."""

    question: str
    planning: float
    live: float
    plain: float
    limit: float | None


def main() -> int:
    """The command line; see the module's docstring."""
    parser = argparse.ArgumentParser(prog="make bench-sql-views", description=__doc__.split("\n")[0])
    parser.add_argument("--enrollments", type=int, default=_ENROLLMENTS)
    parser.add_argument("--students", type=int, default=thirty_questions.STUDENTS)
    options = parser.parse_args()
    print(table(measure(options.enrollments)))
    thirty_questions.measure(options.students)
    return 0


def measure(enrollments: int) -> list[Row]:
    """All queries in a database with this number of enrollments."""
    with tempfile.TemporaryDirectory(prefix="meadowlark-views-") as folder:
        home = Path(folder, "home")
        with meadowlark(home) as server:
            fill(server.database_url, home, 1)
            with psycopg.connect(url_of(SUPERUSER, home), autocommit=True) as connection:
                clone(connection, enrollments, _CLONED_SCHOOLS)
                connection.execute("VACUUM ANALYZE document")
            print(f"create_sql_views: {_created(server.database_url, home):.1f} s", flush=True)
            with psycopg.connect(server.database_url, autocommit=True) as connection:
                _copy(connection)
                rows = _measure_all(connection)
                _measure_operation(connection, server.database_url, home)
                return rows


def _created(database_url: str, home: Path) -> float:
    """The seconds of the command, with the start of its process."""
    started = time.monotonic()
    command(database_url, home, "create_sql_views")
    return time.monotonic() - started


def _measure_operation(connection: psycopg.Connection[Any], database_url: str, home: Path) -> None:
    query = "SELECT aggregateid FROM edfi.studentschoolassociation LIMIT %s"
    changed = [number for (number,) in connection.execute(query, [_CHANGES])]
    stopped = threading.Event()
    waits: list[float] = []

    def write() -> None:
        with psycopg.connect(database_url, autocommit=True) as writer:
            while not stopped.wait(0.002):
                started = time.monotonic()
                writer.execute(_CHANGE, [changed[:1]])
                waits.append(time.monotonic() - started)

    thread = threading.Thread(target=write)
    thread.start()
    try:
        command(database_url, home, "drop_sql_views")
        command(database_url, home, "create_sql_views")
    finally:
        stopped.set()
        thread.join()
    longest, usual = max(waits) * 1000, median(waits) * 1000
    print(f"a writer beside drop_sql_views and create_sql_views: longest wait {longest:.0f} ms, median {usual:.1f} ms")
    command(database_url, home, "create_sql_views", "--copy", "edfi.studentschoolassociation")
    connection.execute(_CHANGE, [changed])
    print(f"after {_CHANGES:,} changes: {command(database_url, home, 'refresh_sql_views')}", flush=True)


def _copy(connection: psycopg.Connection[Any]) -> None:
    connection.execute("CREATE SCHEMA plain")
    for name, key in _TABLES.items():
        connection.execute(f"CREATE TABLE plain.{name} AS SELECT * FROM edfi.{name}")
        connection.execute(f"ALTER TABLE plain.{name} ADD PRIMARY KEY ({key})")
    connection.execute("CREATE INDEX ON plain.student (studentuniqueid)")
    for name in _TABLES:
        connection.execute(f"VACUUM ANALYZE plain.{name}")


def _measure_all(connection: psycopg.Connection[Any]) -> list[Row]:
    connection.execute("SET max_parallel_workers_per_gather = 0")
    (usi,) = connection.execute("SELECT studentusi FROM edfi.student WHERE studentuniqueid = 'B7'").fetchone() or (0,)
    rows = []
    for question, statement, limit in QUESTIONS:
        live = [_times(connection, statement.format(s="edfi", usi=usi)) for _ in range(RUNS)]
        plain = [_times(connection, statement.format(s="plain", usi=usi)) for _ in range(RUNS)]
        planning, execution = min(times[0] for times in live), min(times[1] for times in live)
        rows.append(Row(question, planning, execution, min(times[1] for times in plain), limit))
        print(_line(rows[-1]), flush=True)
    return rows


def _times(connection: psycopg.Connection[Any], statement: str) -> tuple[float, float]:
    """Milliseconds of planning, and of processor time for both planning and execution."""
    before = processor_time(connection)
    (plans,) = connection.execute(f"EXPLAIN (ANALYZE, TIMING OFF, FORMAT JSON) {statement}").fetchone() or ([],)
    return plans[0]["Planning Time"], processor_time(connection) - before


def table(rows: Sequence[Row]) -> str:
    """A readable table: a line for each query."""
    return "\n".join([f"{'':32}{'plan ms':>9}{'live ms':>11}{'plain ms':>11}{'x plain':>9}", *map(_line, rows)])


def _line(row: Row) -> str:
    ratio = row.live / max(row.plain, 0.001)
    limit = "" if row.limit is None else f"  limit {row.limit:g}" + ("  EXCEEDED" if ratio > row.limit else "")
    return f"{row.question:32}{row.planning:>9.2f}{row.live:>11.2f}{row.plain:>11.2f}{ratio:>9.1f}{limit}"


if __name__ == "__main__":
    sys.exit(main())
