"""Connections of a run, besides Django's: one that holds the lock and the snapshot, and three of each worker.

A rule's own statements run on a connection of the login for rules, which may read what it was granted and nothing else,
so that no statement in them, and no SET, gets more. It is a login rather than a role that the application sets: a query
can reset a role, but not the user that has logged in. The application, which owns the tables, grants the privileges
when it migrates a database. Rules may read from a streaming replica that has everything up to the begin of the run.
"""

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import psycopg
from django.db import DEFAULT_DB_ALIAS, connections
from psycopg import sql

from edfi_api.common.conf import api_settings
from edfi_api.core.storage.database_state import replicas
from edfi_api.features.validation.rule import Rule
from edfi_api.features.validation.rule_files import BUNDLED

# What rules read, besides SQL views.
TABLES = ("document", "organization_closure", "resource_type")
# Parameters of libpq that belong to each other.
_OF_THE_USER = {"user", "password", "passfile", "sslcert", "sslkey", "sslpassword"}
_OF_THE_ADDRESS = {"host", "hostaddr", "port"}
# The privilege is NULL for tables and a role that do not exist.
_LACKING = """
SELECT name FROM unnest(%s::text[]) AS t (name)
 WHERE NOT has_table_privilege(to_regrole(quote_ident(%s)), to_regclass(name), 'SELECT')
"""


class NoLogin(Exception):
    """Rules of folders are not run without the login."""

    def __str__(self) -> str:
        return (
            "is not run: rules of MEADOWLARK_RULES need a login of the database that may do nothing but read, and"
            " MEADOWLARK_RULE_DATABASE_URL names none"
        )


def login_for(rule: Rule, using: str) -> Mapping[str, Any]:
    """Return what a connection for the rule has in place of the parameters of the application's, for psycopg; empty for
    a bundled rule where there is no login. Raises NoLogin."""
    login = login_parameters(using)
    if not login and not rule.path.is_relative_to(BUNDLED):
        raise NoLogin
    return login


def login_parameters(using: str) -> Mapping[str, Any]:
    """The login's parameters for a database; empty if there is none."""
    login: Mapping[str, Any] = api_settings.RULE_LOGIN
    if using == DEFAULT_DB_ALIAS:
        return login
    # Replicas and data stores have hosts of their own.
    return {name: value for name, value in login.items() if name not in _OF_THE_ADDRESS}


def in_place_of(application: Mapping[str, Any], login: Mapping[str, Any]) -> dict[str, Any]:
    """The parameters of the application's connection with those of the login: another user, and another address if
    the login has one."""
    replaced = _OF_THE_USER | (_OF_THE_ADDRESS if login.keys() & _OF_THE_ADDRESS else set())
    return {name: value for name, value in application.items() if name not in replaced} | dict(login)


def grant_reading(*, using: str, **_: Any) -> None:
    """Receiver of `post_migrate`: lets the login read, if there is one on the server."""
    user = api_settings.RULE_LOGIN.get("user")
    if not user:
        return
    with connections[using].cursor() as cursor:
        cursor.execute(_LACKING, [list(TABLES), user])
        for (table,) in cursor.fetchall():
            grant = sql.SQL("GRANT SELECT ON {} TO {}").format(sql.Identifier(table), sql.Identifier(user))
            cursor.execute(grant.as_string(cursor.connection))


Connection = psycopg.Connection[tuple[Any, ...]]

# Rows that are read from the server at once.
BATCH = 2_000

_READ_ONLY = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
# All rows of a rule are read, not the first tenth that cursors are planned for. JIT compilation made no rule faster.
_SETTINGS = "SELECT set_config('cursor_tuple_fraction', '1', true), set_config('jit', 'off', true)"
_SEARCH_PATH = "SELECT set_config('search_path', %s, true)"
_TIMEOUT = "SELECT set_config('statement_timeout', %s, true)"
_VIEW_SCHEMAS = "SELECT DISTINCT schema FROM sql_view WHERE schema NOT IN ('', 'auth', 'util') ORDER BY 1"
_SECONDS_TO_CATCH_UP = 60.0
_SECONDS_BETWEEN_LOOKS = 0.1
# Its commit writes to disk, and so to replicas, whatever was committed before without waiting for the disk.
_MARK = "SELECT pg_logical_emit_message(true, 'meadowlark', 'run_validation')"
_WRITTEN = "SELECT pg_current_wal_flush_lsn()::text"
_HAS_REPLAYED = "SELECT pg_is_in_recovery() AND pg_last_wal_replay_lsn() >= %(log)s::pg_lsn"


class OutOfTime(Exception):
    """The time limit of the rule has passed."""


@contextmanager
def connect(using: str, login: Mapping[str, Any] | None = None) -> Iterator[Connection]:
    """Open a connection of its own to a database of Django's settings, with the user and password of `login` if there
    is one; each statement commits."""
    given = connections[using].get_connection_params()
    options = {name: value for name, value in given.items() if name not in ("cursor_factory", "context")}
    with psycopg.connect(**(in_place_of(options, login) if login else options), autocommit=True) as connection:
        connection.prepare_threshold = None
        yield connection


class Reading:
    """Two read-only transactions of one snapshot, up to a deadline: `own` of the application for its statements, and
    `rule` for those of the rule."""

    def __init__(self, own: Connection, rule: Connection, seconds: float) -> None:
        self._own = own
        self._rule = rule
        self._deadline = time.monotonic() + seconds
        self._cursors = 0

    def begin(self, snapshot: str | None, over: str) -> None:
        for connection in (self._own, self._rule):
            connection.execute(_READ_ONLY)
            if snapshot:
                connection.execute(sql.SQL("SET TRANSACTION SNAPSHOT {}").format(sql.Literal(snapshot)))
        schemas = ["public"]
        if over == "views":
            schemas = [*(schema for (schema,) in self._own.execute(_VIEW_SCHEMAS)), *schemas]
        self._rule.execute(_SETTINGS)
        self._rule.execute(_SEARCH_PATH, [", ".join(f'"{schema}"' for schema in schemas)])

    def rows(self, statement: str, parameters: Mapping[str, Any]) -> Iterator[tuple[Any, ...]]:
        """The rows of a rule's statement, read in batches. Raises OutOfTime."""
        with self.cursor(statement, parameters) as cursor:
            while batch := self.fetch(cursor):
                yield from batch

    @contextmanager
    def cursor(
        self, statement: str, parameters: Mapping[str, Any]
    ) -> Iterator["psycopg.ServerCursor[tuple[Any, ...]]"]:
        """A cursor of a rule's statement that is described, and has read nothing yet."""
        self._cursors += 1
        self._limit(self._rule)
        with self._rule.cursor(name=f"rule_{self._cursors}") as cursor:
            cursor.execute(statement, parameters)
            yield cursor

    def fetch(self, cursor: "psycopg.ServerCursor[tuple[Any, ...]]") -> Sequence[tuple[Any, ...]]:
        """The next rows. Raises OutOfTime."""
        self._limit(self._rule)
        return cursor.fetchmany(BATCH)

    def explain(self, statement: str, parameters: Mapping[str, Any], options: str) -> list[tuple[Any, ...]]:
        """Return what EXPLAIN with these options says about a rule's statement. Raises OutOfTime."""
        self._limit(self._rule)
        return self._rule.execute(f"EXPLAIN ({options}) {statement}", parameters).fetchall()

    def all(self, statement: str, parameters: Mapping[str, Any]) -> list[tuple[Any, ...]]:
        """The rows of a statement of the application. Raises OutOfTime."""
        self._limit(self._own)
        return self._own.execute(statement, parameters).fetchall()

    def _limit(self, connection: Connection) -> None:
        """Each statement may take what is left. A rule that changes its limit changes that of its next statement,
        which is set again."""
        left = self._deadline - time.monotonic()
        if left <= 0:
            raise OutOfTime
        connection.execute(_TIMEOUT, [f"{int(left * 1000) + 1}"])


@contextmanager
def reading(using: str, rule: Rule, seconds: float, snapshot: str | None = None) -> Iterator[Reading]:
    """Transactions for the rule, which are rolled back. Raises NoLogin."""
    with connect(using) as own, connect(using, login_for(rule, using)) as connection:
        opened = Reading(own, connection, seconds)
        opened.begin(snapshot, rule.over)
        try:
            yield opened
        finally:
            for each in (own, connection):
                if not each.closed:
                    each.execute("ROLLBACK")


class NoReplica(Exception):
    """The database has no replica."""

    def __str__(self) -> str:
        return "the database has no replica: see DATABASE_REPLICA_URL"


@dataclass
class ReplicaLags(Exception):
    """The replica did not catch up in time."""

    seconds: float

    def __str__(self) -> str:
        return f"the replica has not caught up within {self.seconds:.0f} seconds"


def caught_up_replica(using: str) -> str:
    """The alias of a replica that has replayed what the primary had written before the call. Raises NoReplica and
    ReplicaLags."""
    aliases = replicas(using)
    if not aliases:
        raise NoReplica
    with connect(using) as primary:
        primary.execute(_MARK)
        [[log]] = primary.execute(_WRITTEN)
    deadline = time.monotonic() + _SECONDS_TO_CATCH_UP
    with connect(aliases[0]) as replica:
        while not replica.execute(_HAS_REPLAYED, {"log": log}).fetchall()[0][0]:
            if time.monotonic() > deadline:
                raise ReplicaLags(_SECONDS_TO_CATCH_UP)
            time.sleep(_SECONDS_BETWEEN_LOOKS)
    return aliases[0]
