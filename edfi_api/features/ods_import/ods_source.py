"""The source: a database of an ODS on PostgreSQL, read in one snapshot, with nothing but SELECT.

Its connections are of their own, for it is no database of this server: one transaction each, REPEATABLE READ and READ
ONLY, of the same snapshot, in which no object outside `pg_catalog` is found without its schema.

Several queries are read over several connections at once; their rows come in the order of the queries. Each connection
has a thread, which fetches some rows ahead of those that are taken. So a source works while what it has sent is
written, and memory does not grow with the number or the size of its rows.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Generic, NamedTuple, TypeVar
from uuid import UUID

import psycopg
from psycopg import Connection, IsolationLevel, ServerCursor
from psycopg.conninfo import conninfo_to_dict
from psycopg.sql import SQL

from edfi_api.features.sql_views.casts import literal

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
_LARGE_TABLES = """
SELECT n.nspname || '.' || c.relname
  FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
 WHERE c.relkind IN ('r', 'p') AND pg_relation_size(c.oid) > 4 * 1024 * 1024
"""
_MAY_EXPORT = "SELECT has_function_privilege('pg_export_snapshot()', 'EXECUTE')"
_SNAPSHOT = "SELECT pg_export_snapshot()"
_VERSIONS = ("changes", "changeversionsequence")
# Versions of this server go on after those of the source, and need room.
HIGHEST_VERSION = 2**62

Origin = TypeVar("Origin")
Rows = list[tuple[Any, ...]]

_MOST_ROWS = 1_000
_FIRST_ROWS = 10
# The size of texts that are fetched at once. A document may be of megabytes.
_BYTES = 2**20


class Portion(NamedTuple, Generic[Origin]):
    """A query for rows of texts. All rows of a `rank` come before those of a higher one; those of several
    portions of one rank come as they are read."""

    rank: int
    origin: Origin
    query: str


def read(connections: Sequence[Connection[Any]], portions: Iterable[Portion[Origin]]) -> Iterator[tuple[Origin, Rows]]:
    """The rows of portions, which are in the order of their ranks, some at a time. Raises psycopg.Error."""
    left = iter(portions)
    readers: list[_Reader[Origin]] = [_Reader(connection) for connection in connections]
    try:
        active = [reader for reader in readers if reader.begin(left)]
        while active:
            rank = min(reader.portion.rank for reader in active)
            ahead = {reader.fetched: reader for reader in active if reader.portion.rank == rank}
            done, _ = wait(ahead, return_when=FIRST_COMPLETED)
            for reader in map(ahead.__getitem__, done):
                origin, rows = reader.portion.origin, reader.fetched.result()
                if rows:
                    reader.fetch()
                    yield origin, rows
                elif not reader.begin(left):
                    active.remove(reader)
    finally:
        for reader in readers:
            reader.close()


@dataclass(slots=True)
class _Reader(Generic[Origin]):
    """A connection with its thread, and the rows that it fetches."""

    connection: Connection[Any]
    portion: Portion[Origin] = field(init=False)
    fetched: Future[Rows] = field(default_factory=Future)
    _thread: ThreadPoolExecutor = field(default_factory=partial(ThreadPoolExecutor, 1, "import_ods"))
    _cursor: ServerCursor[Any] | None = None
    _most_rows: int = _FIRST_ROWS

    def begin(self, left: Iterator[Portion[Origin]]) -> bool:
        """Read the next portion; False if there is none."""
        portion = next(left, None)
        if portion is None:
            return False
        self.portion = portion
        self.fetched = self._thread.submit(self._execute)
        return True

    def fetch(self) -> None:
        """Fetch some more rows; none at the end of the portion."""
        self.fetched = self._thread.submit(self._fetch)

    def close(self) -> None:
        """Stop what is being fetched."""
        if self.fetched.running():
            with suppress(psycopg.Error):
                self.connection.cancel_safe()
        self._thread.shutdown()

    def _execute(self) -> Rows:
        self._cursor, self._most_rows = ServerCursor(self.connection, "import_ods"), _FIRST_ROWS
        self._cursor.execute(self.portion.query)
        return self._fetch()

    def _fetch(self) -> Rows:
        assert self._cursor is not None  # noqa: S101  Executed before.
        rows = self._cursor.fetchmany(self._most_rows)
        size = sum(len(text) for row in rows for text in row if text)
        if not rows:
            self._cursor.close()
        elif size:
            self._most_rows = max(1, min(_MOST_ROWS, 2 * self._most_rows, self._most_rows * _BYTES // size))
        return rows


@dataclass(frozen=True, slots=True)
class OdsSource:
    """An open source: its connection, and the types of its columns by table, `edfi.school`, and name.

    `others` are further connections, which read the same snapshot.
    """

    connection: Connection[Any]
    tables: Mapping[str, Mapping[str, str]]
    others: Sequence[Connection[Any]] = ()

    def rows(self, query: str, values: Mapping[str, Any] | None = None) -> list[tuple[Any, ...]]:
        """The rows of a small result."""
        with translate_errors():
            return self.connection.execute(query, values).fetchall()

    def stream(
        self, query: str, values: Mapping[str, Any] | None = None, at_once: int = _FETCHED_AT_ONCE
    ) -> Iterator[tuple[Any, ...]]:
        """The rows of a result of any size, some at a time."""
        with translate_errors(), ServerCursor(self.connection, "import_ods") as cursor:
            cursor.execute(query, values)
            while rows := cursor.fetchmany(at_once):
                yield from rows

    def read(self, portions: Iterable[Portion[Origin]]) -> Iterator[tuple[Origin, Rows]]:
        """The rows of several queries, read by all connections."""
        with translate_errors():
            yield from read([self.connection, *self.others], portions)

    def with_rows(self, tables: Iterable[str]) -> frozenset[str]:
        """Return those of the tables that are not empty, which one query finds: most tables of a source are."""
        each = " UNION ALL ".join(
            f"SELECT {literal(table)} WHERE EXISTS (SELECT FROM {quoted(table)})" for table in tables
        )
        return frozenset(table for (table,) in self.rows(each)) if each else frozenset()

    def has_rows(self, table: str) -> bool:
        """Return whether a table that `tables` has is not empty."""
        return bool(self.rows(f"SELECT FROM {quoted(table)} LIMIT 1"))

    def may_read(self, table: str) -> bool:
        """Return whether there is such a table, and the role may read it."""
        allowed = "SELECT has_schema_privilege(%(schema)s, 'USAGE') AND has_table_privilege(%(table)s, 'SELECT')"
        values = {"schema": table.partition(".")[0], "table": quoted(table)}
        return table in self.tables and self.rows(allowed, values) == [(True,)]

    def newest_version(self) -> int:
        """The highest change version that the source has given; 0 if it counts none, `HIGHEST_VERSION` if it is higher.

        Later than the snapshot, so not less than any version in it.
        """
        schema, name = _VERSIONS
        found = self.rows("SELECT FROM pg_class c WHERE c.oid = to_regclass(%(name)s)", {"name": f"{schema}.{name}"})
        last = int(self.rows(f'SELECT last_value FROM "{schema}"."{name}"')[0][0]) if found else 0
        return min(last, HIGHEST_VERSION)

    def ids_of_several_rows(self, tables: Iterable[str], ids: Sequence[str]) -> set[UUID]:
        """Return those of the ids that more than one row of these tables has."""
        each = " UNION ALL ".join(
            f"SELECT id FROM {quoted(table)} WHERE id = ANY (%(ids)s::uuid[])" for table in tables
        )
        found = self.rows(f"SELECT id FROM ({each}) AS found GROUP BY id HAVING count(*) > 1", {"ids": list(ids)})
        return {id_ for (id_,) in found}

    def large_tables(self) -> frozenset[str]:
        """Return the tables that several connections read faster than one."""
        return frozenset(table for (table,) in self.rows(_LARGE_TABLES))


@contextmanager
def opened(address: str, connections: int = 1) -> Iterator[OdsSource]:
    """The source at a connection string, as it stands now, over so many connections. Raises SourceUnusable."""
    try:
        parameters = conninfo_to_dict(address)
    except (psycopg.ProgrammingError, UnicodeEncodeError):
        raise SourceUnusable("the address is no connection string of PostgreSQL") from None
    with ExitStack() as stack:
        with translate_errors():
            connection = stack.enter_context(closing(_connected(parameters)))
            tables = _tables(connection)
            others = []
            if connections > 1 and (snapshot := _exported_snapshot(connection)):
                others = [stack.enter_context(closing(_connected(parameters))) for _ in range(connections - 1)]
            for each in others:
                each.execute(SQL("SET TRANSACTION SNAPSHOT {}").format(snapshot))
        yield OdsSource(connection, tables, others)


def _connected(parameters: Mapping[str, Any]) -> Connection[Any]:
    connection = psycopg.connect(
        **{"connect_timeout": _CONNECT_SECONDS, "application_name": "meadowlark import_ods", **parameters}
        | {"options": _OPTIONS}
    )
    connection.isolation_level = IsolationLevel.REPEATABLE_READ
    connection.read_only = True
    return connection


def _exported_snapshot(connection: Connection[Any]) -> str:
    """Return the snapshot with which other sessions read the same state, as long as this transaction lasts; "" if the
    role may not.
    """
    [(is_allowed,)] = connection.execute(_MAY_EXPORT)
    return "".join(snapshot for (snapshot,) in connection.execute(_SNAPSHOT)) if is_allowed else ""


@contextmanager
def translate_errors() -> Iterator[None]:
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


def first_of(names: Sequence[str], most: int = 10) -> str:
    """The first of some names, and how many more there are."""
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more


@dataclass
class SourceUnusable(Exception):
    """The source cannot be reached or read; `reason` is PostgreSQL's, without the password."""

    reason: str


@dataclass
class Incompatible(Exception):
    """The served model has tables or columns that the source does not have.

    `extensions` are the names of served projects of which it has nothing; `standard` is another bundled data standard
    whose tables it has, "" if there is none.
    """

    missing: Sequence[str]
    extensions: Sequence[str] = ()
    standard: str = ""


@dataclass
class NoEarlierPass(Exception):
    """There is no finished pass whose changes a later one could read."""


class AlreadyImporting(Exception):
    """Another import into the same database is running."""
