"""Executes the store's statements: prepared, in one round trip each, with retries after concurrent writes.

Constraint violations pass through; the store interprets them.
"""

import random
import time
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from django.db import InterfaceError, InternalError, OperationalError, ProgrammingError, connections, transaction
from django.db.backends.base.base import BaseDatabaseWrapper
from psycopg import errors

from edfi_api.storage.driver.prepared import Row, forget, run, run_unprepared
from edfi_api.storage.exceptions import TooMuchContention, is_outage

Result = TypeVar("Result")

ATTEMPTS = 12
_FIRST_PAUSE_SECONDS = 0.005
_LONGEST_PAUSE_SECONDS = 0.2


class MetConcurrentWrite(Exception):
    """A concurrent transaction interfered; nothing was written and the statement can be retried."""


def with_retries(attempt: Callable[[], Result]) -> Result:
    """Retry after a concurrent write, a deadlock or a lost connection, with exponential backoff and jitter.

    A write whose connection was lost may have been committed. Retrying it is safe: an upsert or update with the same
    content changes nothing, and a second delete finds no document. Raises TooMuchContention after the last attempt.
    """
    for number in range(ATTEMPTS):
        try:
            return attempt()
        except MetConcurrentWrite:
            longest = min(_LONGEST_PAUSE_SECONDS, _FIRST_PAUSE_SECONDS * 2**number)
            time.sleep(random.uniform(0, longest))  # noqa: S311  jitter, not a secret
    raise TooMuchContention


def execute(statement: str, parameters: Mapping[str, Any], using: str) -> list[Row]:
    """The rows of a statement, run in its own transaction, or in a savepoint of the caller's transaction.

    Raises MetConcurrentWrite if it can be retried, otherwise Django's database errors.
    """
    connection = connections[using]
    try:
        if not connection.in_atomic_block:
            return _run(statement, parameters, connection)
        with transaction.atomic(using):
            return _run(statement, parameters, connection)
    except (OperationalError, InterfaceError) as error:
        if isinstance(error.__cause__, errors.DeadlockDetected | errors.SerializationFailure):
            raise MetConcurrentWrite from error
        if _has_lost_its_server(connection):
            connection.close()
            raise MetConcurrentWrite from error
        raise
    except InternalError as error:
        if is_outage(error) and not connection.in_atomic_block:
            connection.close()  # After a failover the next connection may reach the new primary.
        raise
    except ProgrammingError as error:
        if isinstance(error.__cause__, errors.InvalidSqlStatementName):
            # After DEALLOCATE ALL, by psycopg after a rollback or by a connection pooler between two clients.
            forget(connection.connection)
            raise MetConcurrentWrite from error
        raise


def _is_pooled(connection: BaseDatabaseWrapper) -> bool:
    """Whether a pooler may assign each transaction another server session: Django's setting for such poolers."""
    return bool(connection.settings_dict.get("DISABLE_SERVER_SIDE_CURSORS"))


def _run(statement: str, parameters: Mapping[str, Any], connection: BaseDatabaseWrapper) -> list[Row]:
    if connection.connection is None:
        connection.ensure_connection()
    runs = run_unprepared if _is_pooled(connection) else run
    with connection.wrap_database_errors:
        return runs(statement, parameters, connection.connection)


def _has_lost_its_server(connection: BaseDatabaseWrapper) -> bool:
    """Whether an established connection was lost, as opposed to a server that cannot be reached at all."""
    if connection.connection is None or connection.in_atomic_block:
        return False
    return bool(connection.connection.closed or connection.connection.broken)
