"""Connections of a run, besides Django's: one that holds the lock and the snapshot, and two of each worker."""

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import psycopg
from django.db import connections
from psycopg import sql

from edfi_api.conf import api_settings

from .rule import Rule

Connection = psycopg.Connection[tuple[Any, ...]]

# Rows that are read from the server at once.
BATCH = 2_000

_READ_ONLY = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
# All rows of a rule are read, not the first tenth that cursors are planned for. JIT compilation made no rule faster.
_SETTINGS = "SELECT set_config('cursor_tuple_fraction', '1', true), set_config('jit', 'off', true)"
_SEARCH_PATH = "SELECT set_config('search_path', %s, true)"
_TIMEOUT = "SELECT set_config('statement_timeout', %s, true)"
_VIEW_SCHEMAS = "SELECT DISTINCT schema FROM sql_view WHERE schema NOT IN ('', 'auth', 'util') ORDER BY 1"


class OutOfTime(Exception):
    """The time limit of the rule has passed."""


@contextmanager
def connected(using: str) -> Iterator[Connection]:
    """A connection of its own to a database of Django's settings; each statement commits."""
    given = connections[using].get_connection_params()
    options = {name: value for name, value in given.items() if name not in ("cursor_factory", "context")}
    with psycopg.connect(**options, autocommit=True) as connection:
        connection.prepare_threshold = None
        yield connection


class Reading:
    """A read-only transaction in which a rule runs, up to a deadline; with a snapshot, in that of the run.

    `least_privilege` is to be called when only the rule's own statements follow.
    """

    def __init__(self, connection: Connection, seconds: float) -> None:
        self._connection = connection
        self._deadline = time.monotonic() + seconds
        self._cursors = 0

    def begin(self, snapshot: str | None, over: str) -> None:
        self._connection.execute(_READ_ONLY)
        if snapshot:
            self._connection.execute(sql.SQL("SET TRANSACTION SNAPSHOT {}").format(sql.Literal(snapshot)))
        self._connection.execute(_SETTINGS)
        schemas = ["public"]
        if over == "views":
            schemas = [*(schema for (schema,) in self._connection.execute(_VIEW_SCHEMAS)), *schemas]
        self._connection.execute(_SEARCH_PATH, [", ".join(f'"{schema}"' for schema in schemas)])

    def least_privilege(self) -> None:
        """Continue as the role of the settings, which may only read, if there is one."""
        if role := api_settings.RULE_ROLE:
            self._connection.execute(sql.SQL("SET LOCAL ROLE {}").format(sql.Identifier(role)))

    def rows(self, statement: str, parameters: Mapping[str, Any]) -> Iterator[tuple[Any, ...]]:
        """The rows of a statement, read in batches. Raises OutOfTime."""
        with self.cursor(statement, parameters) as cursor:
            while batch := self.fetch(cursor):
                yield from batch

    @contextmanager
    def cursor(
        self, statement: str, parameters: Mapping[str, Any]
    ) -> Iterator["psycopg.ServerCursor[tuple[Any, ...]]"]:
        """A cursor that is described, and has read nothing yet."""
        self._cursors += 1
        self._limit()
        with self._connection.cursor(name=f"rule_{self._cursors}") as cursor:
            cursor.execute(statement, parameters)
            yield cursor

    def fetch(self, cursor: "psycopg.ServerCursor[tuple[Any, ...]]") -> Sequence[tuple[Any, ...]]:
        """The next rows. Raises OutOfTime."""
        self._limit()
        return cursor.fetchmany(BATCH)

    def all(self, statement: str, parameters: Mapping[str, Any]) -> list[tuple[Any, ...]]:
        """The rows of a statement of ours. Raises OutOfTime."""
        self._limit()
        return self._connection.execute(statement, parameters).fetchall()

    def _limit(self) -> None:
        """Each statement may take what is left."""
        left = self._deadline - time.monotonic()
        if left <= 0:
            raise OutOfTime
        self._connection.execute(_TIMEOUT, [f"{int(left * 1000) + 1}"])


@contextmanager
def reading(using: str, rule: Rule, seconds: float, snapshot: str | None = None) -> Iterator[Reading]:
    """A transaction for the rule, which is rolled back."""
    with connected(using) as connection:
        opened = Reading(connection, seconds)
        opened.begin(snapshot, rule.over)
        try:
            yield opened
        finally:
            if not connection.closed:
                connection.execute("ROLLBACK")
