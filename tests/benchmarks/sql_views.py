"""`make bench-sql-views`: queries of analysts through the live views, compared with plain tables.

    python -m tests.benchmarks.sql_views [--enrollments N]

Beside N enrollments there are students, associations with addresses, and attendance events in the proportions of a
district (0.4, 0.3 and 0.5 of N), cloned from one document each without triggers. `plain` are tables filled from the
views, with primary keys. Each figure is the shortest execution time of three runs in one process, without parallel
workers; `x plain` is the ratio of the two, and should stay below the limit if there is one.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg

from tests.analysis.sql_views.clones import clone
from tests.benchmarks.filling import fill
from tests.server_processes import meadowlark

_TOP = Path(__file__).parents[2]
_ENROLLMENTS = 1_000_000
_RUNS = 3
_CLONED_SCHOOLS = 1_000

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
)


@dataclass(frozen=True)
class Row:
    """A query: milliseconds of planning and execution over the views, and of execution over plain tables."""

    question: str
    planning: float
    live: float
    plain: float
    limit: float | None


def main() -> int:
    """The command line; see the module's docstring."""
    parser = argparse.ArgumentParser(prog="make bench-sql-views", description=__doc__.split("\n")[0])
    parser.add_argument("--enrollments", type=int, default=_ENROLLMENTS)
    rows = measure(parser.parse_args().enrollments)
    print(table(rows))
    return 0


def measure(enrollments: int) -> list[Row]:
    """All queries in a database with this number of enrollments."""
    with tempfile.TemporaryDirectory(prefix="meadowlark-views-") as folder:
        home = Path(folder, "home")
        with meadowlark(home) as server:
            fill(server.database_url, home, 1)
            with psycopg.connect(server.database_url, autocommit=True) as connection:
                clone(connection, enrollments, _CLONED_SCHOOLS)
                connection.execute("VACUUM ANALYZE document")
            print(f"create_sql_views: {_created(server.database_url, home):.1f} s", flush=True)
            with psycopg.connect(server.database_url, autocommit=True) as connection:
                _copy(connection)
                return _measure_all(connection)


def _created(database_url: str, home: Path) -> float:
    environment = os.environ | {"DATABASE_URL": database_url, "MEADOWLARK_HOME": str(home)}
    started = time.monotonic()
    subprocess.run(
        [sys.executable, "manage.py", "create_sql_views"], cwd=_TOP, env=environment, check=True, capture_output=True
    )
    return time.monotonic() - started


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
        live = [_times(connection, statement.format(s="edfi", usi=usi)) for _ in range(_RUNS)]
        plain = [_times(connection, statement.format(s="plain", usi=usi)) for _ in range(_RUNS)]
        planning, execution = min(times[0] for times in live), min(times[1] for times in live)
        rows.append(Row(question, planning, execution, min(times[1] for times in plain), limit))
        print(_line(rows[-1]), flush=True)
    return rows


def _times(connection: psycopg.Connection[Any], statement: str) -> tuple[float, float]:
    """Milliseconds of planning and of execution."""
    (plans,) = connection.execute(f"EXPLAIN (ANALYZE, TIMING OFF, FORMAT JSON) {statement}").fetchone() or ([],)
    return plans[0]["Planning Time"], plans[0]["Execution Time"]


def table(rows: Sequence[Row]) -> str:
    """A readable table: a line for each query."""
    return "\n".join([f"{'':32}{'plan ms':>9}{'live ms':>11}{'plain ms':>11}{'x plain':>9}", *map(_line, rows)])


def _line(row: Row) -> str:
    ratio = row.live / max(row.plain, 0.001)
    limit = "" if row.limit is None else f"  limit {row.limit:g}" + ("  EXCEEDED" if ratio > row.limit else "")
    return f"{row.question:32}{row.planning:>9.2f}{row.live:>11.2f}{row.plain:>11.2f}{ratio:>9.1f}{limit}"


if __name__ == "__main__":
    sys.exit(main())
