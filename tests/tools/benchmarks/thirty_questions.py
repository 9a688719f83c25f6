"""A part of `make bench-sql-views`: the questions of the page for analysts, over live views, copies and plain tables.

    python -m tests.tools.benchmarks.thirty_questions [--students N]

The database has a demo district of N students. A reader made by `create_sql_views --create-reader` asks each question
over the live views, then over plain tables filled from these, with primary keys, and at last over the views as copies
(`--copy`). Figures are milliseconds of processor time with planning, the least of three runs, without parallel workers.
The limits are 5 times the plain tables for copies, and 25 times for live views.
"""

import argparse
import re
import sys
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg

from meadowlark.run.embedded_postgres import SUPERUSER, url_of
from tests.features.sql_views.questions import QUESTIONS, over_plain_tables, views
from tests.support.server_processes import command, meadowlark
from tests.tools.benchmarks.processor_time import least
from tests.tools.benchmarks.verification import verify

STUDENTS = 20_000
# The end of a school year, so that all of it is there.
_TODAY = "2026-06-05"
_READER = "bench_reader"
_LIMIT, _LIVE_LIMIT = 5, 25
_KEY = "SELECT obj_description(to_regclass(%s))"


@dataclass(frozen=True)
class Row:
    """A question: milliseconds over live views, plain tables, and copies."""

    number: int
    question: str
    live: float
    plain: float
    copied: float

    def __str__(self) -> str:
        live, copied = self.live / self.plain, self.copied / self.plain
        exceeded = "  EXCEEDED" if copied > _LIMIT or live > _LIVE_LIMIT else ""
        figures = f"{self.live:>10.1f}{self.plain:>10.1f}{self.copied:>10.1f}{live:>9.1f}{copied:>9.1f}"
        return f"{self.number:>2}. {self.question[:58]:58}{figures}{exceeded}"


def main() -> int:
    """The command line; see the module's docstring."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--students", type=int, default=STUDENTS)
    measure(parser.parse_args().students)
    return 0


def measure(students: int) -> list[Row]:
    """All questions in a district of so many students; prints a line for each."""
    with tempfile.TemporaryDirectory(prefix="meadowlark-questions-") as folder:
        home = Path(folder, "home")
        with meadowlark(home) as server:
            _load(server.database_url, home, students, Path(folder, "district"))
            command(server.database_url, home, "create_sql_views", "--create-reader", _READER)
            with psycopg.connect(server.database_url, autocommit=True) as owner:
                _fill_plain_tables(owner)
            with psycopg.connect(url_of(_READER, home), autocommit=True) as reader:
                reader.execute("SET max_parallel_workers_per_gather = 0")
                live = {number: least(reader, statement) for number, (_, statement) in QUESTIONS.items()}
                plain = {
                    number: least(reader, over_plain_tables(statement)) for number, (_, statement) in QUESTIONS.items()
                }
                copies = (option for schema, name in views() for option in ("--copy", f"{schema}.{name}"))
                command(server.database_url, home, "create_sql_views", *copies)
                copied = {number: least(reader, statement) for number, (_, statement) in QUESTIONS.items()}
            verify(server.database_url, home)
    rows = [Row(number, words, live[number], plain[number], copied[number]) for number, (words, _) in QUESTIONS.items()]
    print(table(students, rows), flush=True)
    return rows


def table(students: int, rows: Iterable[Row]) -> str:
    """A readable table: a line for each question."""
    header = f"{f'{students:,} students':62}{'live ms':>10}{'plain ms':>10}{'copy ms':>10}{'x live':>9}{'x copy':>9}"
    return "\n".join([header, *map(str, rows)])


def _load(database_url: str, home: Path, students: int, folder: Path) -> None:
    options = ["--students", str(students), "--today", _TODAY, "--output", str(folder)]
    command(database_url, home, "generate_demo_district", *options)
    command(database_url, home, "load_documents", str(folder), "--max-refused", "0")
    with psycopg.connect(url_of(SUPERUSER, home), autocommit=True) as connection:
        connection.execute("VACUUM ANALYZE document")


def _fill_plain_tables(connection: psycopg.Connection[Any]) -> None:
    """With the primary keys that the comments of the views name."""
    for schema, name in views():
        plain = schema.replace("edfi", "plain")
        connection.execute(f"CREATE SCHEMA IF NOT EXISTS {plain}")
        connection.execute(f"CREATE TABLE {plain}.{name} AS SELECT * FROM {schema}.{name}")
        (comment,) = connection.execute(_KEY, [f"{schema}.{name}"]).fetchone() or ("",)
        key = re.search(r"Primary key: (.+)$", comment)
        assert key, f"{schema}.{name} names no primary key"
        connection.execute(f"ALTER TABLE {plain}.{name} ADD PRIMARY KEY ({key[1]})")
        connection.execute(f"VACUUM ANALYZE {plain}.{name}")
        connection.execute(f"GRANT USAGE ON SCHEMA {plain} TO {_READER}")
        connection.execute(f"GRANT SELECT ON {plain}.{name} TO {_READER}")


if __name__ == "__main__":
    sys.exit(main())
