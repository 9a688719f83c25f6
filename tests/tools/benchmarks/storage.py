"""Bytes that PostgreSQL stores and logs for a document, beside a plain table with the same bodies and one unique index.

    python -m tests.tools.benchmarks.storage [--students 2000]

Loads the content of `make demo`, with so many students, into a database of its own, and copies the bodies. All figures
are bytes for each document, descriptors included. The log is that of `load_documents`, without whole pages: how many of
these are logged depends on checkpoints. Below the ratios are the relations, with their part.
"""

import argparse
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg

from meadowlark.run.embedded_postgres import SUPERUSER, url_of
from tests.support.server_processes import command, meadowlark
from tests.tools.benchmarks.verification import verify

STUDENTS = 2000
_TODAY = "2026-11-27"
_SMALLEST_SHOWN = 0.5
_TABLES = ("document", "alias", "reference", "reached_document", "organization_closure")
_PLAIN = """
CREATE SCHEMA benchmark;
CREATE TABLE benchmark.plain (document_uuid uuid PRIMARY KEY, body jsonb NOT NULL)
"""
_COPY = "INSERT INTO benchmark.plain SELECT document_uuid, body FROM document ORDER BY id"
_RELATIONS = """
SELECT c.relname, pg_table_size(c.oid) FROM pg_class c LEFT JOIN pg_index i ON i.indexrelid = c.oid
 WHERE coalesce(i.indrelid, c.oid) = ANY (%s::regclass[]) ORDER BY 2 DESC
"""

Connection = psycopg.Connection[Any]


@dataclass(frozen=True)
class Row:
    """Bytes for each document, here and in the plain table."""

    what: str
    here: float
    plain: float


@dataclass(frozen=True)
class Sizes:
    """The rows, and the bytes of each relation for a document."""

    rows: list[Row]
    relations: list[tuple[str, float]]


def main() -> None:
    """The command line; see the module's docstring."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.tools.benchmarks.storage", description=__doc__.split("\n")[0]
    )
    parser.add_argument("--students", type=int, default=STUDENTS)
    print(table(measure(parser.parse_args().students)))


def measure(students: int) -> Sizes:
    """Measure the size of a district with so many students, in a database of its own."""
    with tempfile.TemporaryDirectory(prefix="meadowlark-storage-") as folder:
        home, files = Path(folder, "home"), Path(folder, "district")
        with meadowlark(home) as server, psycopg.connect(url_of(SUPERUSER, home), autocommit=True) as connection:
            options = ["--students", str(students), "--today", _TODAY, "--output", str(files)]
            command(server.database_url, home, "generate_demo_district", *options)
            connection.execute("ALTER SYSTEM SET full_page_writes = off")
            connection.execute("SELECT pg_reload_conf()")
            return _measure(connection, server.database_url, home, files)


def _measure(connection: Connection, database_url: str, home: Path, files: Path) -> Sizes:
    [before] = _one(connection, "SELECT count(*) FROM document")
    start = _position(connection)
    command(database_url, home, "load_documents", str(files), "--max-refused", "0")
    logged = _position(connection) - start
    [documents] = _one(connection, "SELECT count(*) FROM document")
    connection.execute("VACUUM ANALYZE")
    for statement in _PLAIN.split(";"):
        connection.execute(statement)
    start = _position(connection)
    connection.execute(_COPY)
    plain_logged = _position(connection) - start
    connection.execute("VACUUM benchmark.plain")
    relations, plain = _relations(connection, _TABLES), dict(_relations(connection, ["benchmark.plain"]))
    rows = [
        Row("heap", dict(relations)["document"] / documents, plain["plain"] / documents),
        Row("all relations", sum(size for _, size in relations) / documents, sum(plain.values()) / documents),
        Row("log", logged / (documents - before), plain_logged / documents),
    ]
    connection.execute("DROP SCHEMA benchmark CASCADE")
    verify(database_url, home)
    return Sizes(rows, [(name, size / documents) for name, size in relations])


def _one(connection: Connection, statement: str) -> tuple[Any, ...]:
    return connection.execute(statement).fetchone() or ()


def _position(connection: Connection) -> float:
    """The end of the log, in bytes."""
    [position] = _one(connection, "SELECT pg_current_wal_insert_lsn() - '0/0'")
    return float(position)


def _relations(connection: Connection, tables: Sequence[str]) -> list[tuple[str, int]]:
    """Tables and their indexes with their bytes, the largest first."""
    return connection.execute(_RELATIONS, [list(tables)]).fetchall()


def table(found: Sizes) -> str:
    """A readable table."""
    lines = [f"{'bytes for each document':34}{'here':>9}{'plain':>9}{'ratio':>8}"]
    lines += [f"{row.what:34}{row.here:>9,.0f}{row.plain:>9,.0f}{row.here / row.plain:>8.2f}" for row in found.rows]
    lines += ["", *(f"{name[:34]:34}{size:>9,.1f}" for name, size in found.relations if size > _SMALLEST_SHOWN)]
    return "\n".join(lines)


if __name__ == "__main__":
    main()
