"""Executes statements: prepared, in one round trip each or together, with retries after concurrent writes; and how
statements end.

Constraint violations pass through; the store interprets them.
"""

import random
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar
from typing import Any, TypeVar

from django.db import (
    DatabaseError,
    InterfaceError,
    InternalError,
    OperationalError,
    ProgrammingError,
    connections,
    transaction,
)
from django.db.backends.base.base import BaseDatabaseWrapper
from psycopg import Error as PsycopgError
from psycopg import errors
from psycopg.errors import QueryCanceled, ReadOnlySqlTransaction

from edfi_api.common.back_off import BackOff
from edfi_api.core.storage.driver.prepared_statements import (
    BoundStatement,
    Row,
    bound,
    forget,
    run,
    run_together,
    run_unprepared,
)
from edfi_api.core.storage.driver.sql import Sql


class TooMuchContention(Exception):
    """Every attempt conflicted with concurrent writes; nothing was written, a later retry may succeed."""


def is_outage(error: BaseException) -> bool:
    """Return whether the error is temporary: the database is unreachable, starting, out of disk space or connections,
    or read only as a standby is, for which Django raises InternalError."""
    return isinstance(error, OperationalError | InterfaceError) or isinstance(error.__cause__, ReadOnlySqlTransaction)


Result = TypeVar("Result")

ATTEMPTS = 12
# The second one tells whether the database is still there after a connection was lost.
_ATTEMPTS_TOGETHER = 2
# No further retry begins after so many seconds of them: each may have waited for a server that hangs.
_RETRY_SECONDS = 20.0
_FIRST_PAUSE_SECONDS = 0.005
_LONGEST_PAUSE_SECONDS = 0.2

_SET = Sql(
    "SELECT set_config('statement_timeout', %(timeout)s::text, true),"
    " set_config('enable_seqscan', %(seq_scan)s::text, true)"
)
# Limits of the transaction, with which the settings end; returns what was set before.
_LIMIT = Sql(
    "WITH before AS MATERIALIZED ("
    "  SELECT current_setting('statement_timeout') AS timeout, current_setting('enable_seqscan') AS seq_scan"
    ") SELECT timeout, seq_scan, set_config('statement_timeout', %(timeout)s::text, true),"
    " set_config('enable_seqscan', %(seq_scan)s::text, true) FROM before"
)

_ROWS = 5_000


class StatementAborted(Exception):
    """The statement had no effect because of a deadlock, a lost connection or the like, and can be retried."""


class ConnectionLost(StatementAborted):
    """The connection ended during the statement; the cause is Django's error."""


# Whether a deadlock gives up the whole transaction. In one that holds many locks, a statement that is retried meets the
# other transaction again, which still waits for these locks.
_ends_at_deadlock: ContextVar[bool] = ContextVar("ends_at_deadlock", default=False)


@contextmanager
def ending_at_deadlock() -> Iterator[None]:
    """Let a deadlock raise TooMuchContention at once, for transactions that are repeated as a whole."""
    token = _ends_at_deadlock.set(True)
    try:
        yield
    finally:
        _ends_at_deadlock.reset(token)


def end_at_deadlock(error: OperationalError) -> None:
    """Raise TooMuchContention for a deadlock, if a statement is not to be retried after one."""
    if _ends_at_deadlock.get() and isinstance(error.__cause__, errors.DeadlockDetected):
        raise TooMuchContention from error


def attempts() -> Iterator[int]:
    """The numbers of attempts: the first retry follows at once, the others with exponential backoff and jitter."""
    yield 0
    end, back_off = time.monotonic() + _RETRY_SECONDS, BackOff(_FIRST_PAUSE_SECONDS, _LONGEST_PAUSE_SECONDS)
    for number in range(ATTEMPTS):
        yield number + 1
        if time.monotonic() > end:
            return
        time.sleep(random.uniform(0, back_off.pause()))  # noqa: S311  jitter, not a secret


@contextmanager
def holding(lock: Sql, using: str) -> Iterator[None]:
    """A transaction, or a savepoint of the caller's, that begins with a statement that takes locks."""
    with transaction.atomic(using):
        execute(lock, using)
        yield


def run_with_retries(
    attempt: Callable[[], Result | None], queue: Callable[[], AbstractContextManager[None]] = nullcontext
) -> Result:
    """Retry while statements are aborted or the result is None.

    A write that waits for another one has read its snapshot before, so it is stale and has to be retried. The retries
    of many writers of one document could lose to each other; `queue` makes the transaction in which one of them runs.
    A write whose connection was lost may have been committed. Retrying it is safe: an upsert or update with the same
    content changes nothing, and a second delete finds no document. After the last attempt raises TooMuchContention, or
    the error of Django if that attempt has lost its connection, too: the database is out behind a pooler that answers.
    """
    outage: BaseException | None = None
    for number in attempts():
        try:
            result = _run_in_turn(attempt, queue) if number else attempt()
        except StatementAborted as aborted:
            outage = aborted.__cause__ if isinstance(aborted, ConnectionLost) else None
            continue
        if result is not None:
            return result
        outage = None
    raise outage or TooMuchContention


def _run_in_turn(
    attempt: Callable[[], Result | None], queue: Callable[[], AbstractContextManager[None]]
) -> Result | None:
    with queue():
        return attempt()


def execute(statement: Sql, using: str, *, hides_values: bool = False) -> list[Row]:
    """The rows of a statement, run in its own transaction, or in a savepoint of the caller's transaction.

    `hides_values` as in `prepared_statements.bound`.
    Raises StatementAborted if it can be retried, otherwise Django's database errors.
    """
    return execute_bound(bound(statement, hides_values), using)


def execute_bound(statement: BoundStatement, using: str) -> list[Row]:
    """Do what `execute` does, for a statement that is bound to its values."""
    connection = connections[using]
    try:
        if not connection.in_atomic_block:
            return _run(statement, connection)
        with transaction.atomic(using):
            return _run(statement, connection)
    except (OperationalError, InterfaceError) as error:
        if isinstance(error.__cause__, errors.DeadlockDetected | errors.SerializationFailure):
            if isinstance(error, OperationalError):
                end_at_deadlock(error)
            raise StatementAborted from error
        if _has_lost_its_server(connection):
            connection.close()
            raise ConnectionLost from error
        raise
    except InternalError as error:
        if is_outage(error) and not connection.in_atomic_block:
            connection.close()  # After a failover the next connection may reach the new primary.
        raise
    except ProgrammingError as error:
        if isinstance(error.__cause__, errors.InvalidSqlStatementName):
            # After DEALLOCATE ALL, by psycopg after a rollback or by a connection pooler between two clients.
            forget(connection.connection)
            raise StatementAborted from error
        raise


def find_in_time(statement: Sql, milliseconds: int, using: str) -> list[Row]:
    """The rows of a look-up, by an index whatever the planner estimates; none if it takes longer."""
    return fetch_in_time(statement, milliseconds, using) or []


def fetch_in_time(statement: Sql, milliseconds: int, using: str) -> list[Row] | None:
    """Return what `find_in_time` does, but None if it takes longer."""
    found: list[Row] | None
    with transaction.atomic(using):
        [(timeout, seq_scan, *_)] = execute(_LIMIT.with_values(timeout=str(milliseconds), seq_scan="off"), using)
        try:
            found = execute(statement, using)
        except OperationalError as error:
            if not isinstance(error.__cause__, errors.QueryCanceled):
                raise
            found = None
        # The transaction may be a caller's.
        execute(_SET.with_values(timeout=timeout, seq_scan=seq_scan), using)
    return found


def execute_together(statements: Sequence[BoundStatement], using: str) -> list[list[Row] | None]:
    """Execute statements that only read, in one round trip if that is possible, and return the rows of each.

    None in place of rows: this statement has to be executed alone, where it raises its error. Raises Django's database
    errors if there is no connection.
    """
    connection = connections[using]
    alone: list[list[Row] | None] = [None] * len(statements)
    if connection.in_atomic_block or connection.settings_dict.get("DISABLE_SERVER_SIDE_CURSORS"):
        return alone
    for _ in range(_ATTEMPTS_TOGETHER):
        connection.ensure_connection()
        try:
            with connection.wrap_database_errors:
                return run_together(statements, connection.connection)
        except (DatabaseError, InterfaceError):
            connection.close()
    return alone


def _run(statement: BoundStatement, connection: BaseDatabaseWrapper) -> list[Row]:
    if connection.connection is None:
        connection.ensure_connection()
    # Django's setting for poolers that may assign each transaction another server session.
    runs = run_unprepared if connection.settings_dict.get("DISABLE_SERVER_SIDE_CURSORS") else run
    try:
        return runs(statement, connection.connection)
    except PsycopgError:
        # Entered for errors only, since that takes longer than all else here.
        with connection.wrap_database_errors:
            raise


def _has_lost_its_server(connection: BaseDatabaseWrapper) -> bool:
    """Return whether an established connection was lost, as opposed to a server that cannot be reached at all."""
    if connection.connection is None or connection.in_atomic_block:
        return False
    return bool(connection.connection.closed or connection.connection.broken)


def execute_in_batches(statement: str, parameters: Mapping[str, Any], using: str) -> int:
    """Execute a statement, which affects at most `%(batch)s` rows, until there are no more; the number of rows.

    Each batch is a transaction of its own, so locks are short and an interrupted purge keeps its progress.
    """
    total = 0
    with connections[using].cursor() as cursor:
        while True:
            cursor.execute(statement, {**parameters, "batch": _ROWS})
            rows: int = cursor.rowcount
            total += rows
            if rows < _ROWS:
                return total


_TIME_LIMIT = """
WITH before AS MATERIALIZED (SELECT current_setting('statement_timeout') AS timeout)
SELECT timeout, set_config('statement_timeout', %s, true) FROM before
"""
_RESTORE = "SELECT set_config('statement_timeout', %s, true)"


class TookTooLong(Exception):
    """A statement was cancelled at its time limit."""


@contextmanager
def time_limit(milliseconds: int, using: str) -> Iterator[None]:
    """A transaction, or a savepoint of the caller's, each of whose statements may take so long. Raises TookTooLong."""
    try:
        with transaction.atomic(using), connections[using].cursor() as cursor:
            [(before, _)] = cursor.execute(_TIME_LIMIT, [str(milliseconds)]).fetchall()
            yield
            # The transaction may be a caller's.
            cursor.execute(_RESTORE, [before])
    except OperationalError as error:
        if isinstance(error.__cause__, QueryCanceled):
            raise TookTooLong from error
        raise
