"""The source: a database of an ODS on PostgreSQL, read as it stood at one moment, with nothing but SELECT.

The connection is of its own, for it is no database of this server: one transaction, REPEATABLE READ and READ ONLY, in
which no object outside `pg_catalog` is found without its schema.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import psycopg
from psycopg import Connection, IsolationLevel, ServerCursor
from psycopg.conninfo import conninfo_to_dict

from edfi_api.ods_import.exceptions import SourceUnusable

_OPTIONS = " ".join(
    f"-c {name}={value}"
    for name, value in {
        "search_path": "pg_catalog",
        "default_transaction_read_only": "on",
        "datestyle": "ISO",
        "timezone": "UTC",
        "client_encoding": "UTF8",
        "statement_timeout": 0,
        "idle_in_transaction_session_timeout": 0,
        # Compiling takes longer than it saves: an expression for each member of a document.
        "jit": "off",
    }.items()
)
_CONNECT_SECONDS = 15
# A document may be of megabytes.
_FETCHED_AT_ONCE = 200
_COLUMNS = """
SELECT n.nspname, c.relname, a.attname, format_type(a.atttypid, a.atttypmod)
  FROM pg_class c
  JOIN pg_namespace n ON n.oid = c.relnamespace
  JOIN pg_attribute a ON a.attrelid = c.oid
 WHERE c.relkind IN ('r', 'p') AND a.attnum > 0 AND NOT a.attisdropped
   AND n.nspname NOT LIKE 'pg\\_%' AND n.nspname <> 'information_schema'
 ORDER BY n.nspname, c.relname, a.attnum
"""
_SIZES = """
SELECT n.nspname || '.' || c.relname, greatest(c.reltuples, 0)::bigint, pg_total_relation_size(c.oid)
  FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
 WHERE c.relkind IN ('r', 'p')
"""
_VERSIONS = ("changes", "changeversionsequence")


@dataclass(frozen=True, slots=True)
class OdsSource:
    """An open source: its connection, and the types of its columns by table, `edfi.school`, and name."""

    connection: Connection[Any]
    tables: Mapping[str, Mapping[str, str]]

    def rows(self, query: str, values: Mapping[str, Any] | None = None) -> list[tuple[Any, ...]]:
        """The rows of a small result."""
        with as_unusable():
            return self.connection.execute(query, values).fetchall()

    def stream(self, query: str, values: Mapping[str, Any] | None = None) -> Iterator[tuple[Any, ...]]:
        """The rows of a result of any size, some at a time."""
        with as_unusable(), ServerCursor(self.connection, "import_ods") as cursor:
            cursor.execute(query, values)
            while rows := cursor.fetchmany(_FETCHED_AT_ONCE):
                yield from rows

    def has_rows(self, table: str) -> bool:
        """Whether a table that `tables` has is not empty."""
        return bool(self.rows(f"SELECT FROM {quoted(table)} LIMIT 1"))

    def newest_version(self) -> int:
        """The highest change version that the source has given; 0 if it counts none.

        Later than the snapshot, so not less than any version in it.
        """
        schema, name = _VERSIONS
        found = self.rows("SELECT FROM pg_class c WHERE c.oid = to_regclass(%(name)s)", {"name": f"{schema}.{name}"})
        return int(self.rows(f'SELECT last_value FROM "{schema}"."{name}"')[0][0]) if found else 0

    def sizes(self) -> dict[str, tuple[int, int]]:
        """The estimated number of rows and the bytes of each table."""
        return {table: (rows, size) for table, rows, size in self.rows(_SIZES)}


@contextmanager
def opened(address: str) -> Iterator[OdsSource]:
    """The source at a connection string, as it stands now. Raises SourceUnusable."""
    try:
        parameters = conninfo_to_dict(address)
    except (psycopg.ProgrammingError, UnicodeEncodeError):
        raise SourceUnusable("the address is no connection string of PostgreSQL") from None
    with as_unusable():
        connection = psycopg.connect(
            **{"connect_timeout": _CONNECT_SECONDS, "application_name": "meadowlark import_ods", **parameters}
            | {"options": _OPTIONS}  # type: ignore[arg-type]  # of many parameters
        )
        connection.isolation_level = IsolationLevel.REPEATABLE_READ
        connection.read_only = True
    try:
        with as_unusable():
            tables = _tables(connection)
        yield OdsSource(connection, tables)
    finally:
        connection.close()


@contextmanager
def as_unusable() -> Iterator[None]:
    """Translate errors of the source's database, whose messages name database and user, but no password."""
    try:
        yield
    except psycopg.Error as error:
        raise SourceUnusable(" ".join(str(error).split()) or type(error).__name__) from error


def _tables(connection: Connection[Any]) -> dict[str, dict[str, str]]:
    tables: dict[str, dict[str, str]] = defaultdict(dict)
    for schema, table, column, type_ in connection.execute(_COLUMNS):
        tables[f"{schema}.{table}"][column] = type_
    return dict(tables)


def quoted(table: str) -> str:
    """`edfi.school` as an identifier. Raises ValueError for a name without a schema."""
    schema, separator, name = table.partition(".")
    if not separator:
        raise ValueError(table)
    return ".".join('"' + part.replace('"', '""') + '"' for part in (schema, name))


def quoted_name(column: str) -> str:
    """A column as an identifier."""
    return '"' + column.replace('"', '""') + '"'


def in_one_line(names: Sequence[str], most: int = 10) -> str:
    """The first of some names, and how many more there are."""
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more
