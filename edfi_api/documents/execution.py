"""Running the store's statements: one round trip each, prepared, and run again after a concurrent write.

Knows no document; what a constraint violation means is the store's business.
"""

import random
import time
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from django.db import InterfaceError, InternalError, OperationalError, ProgrammingError, connections, transaction
from django.db.backends.base.base import BaseDatabaseWrapper
from psycopg import errors

from edfi_api.documents.exceptions import TooMuchContention, is_outage
from edfi_api.documents.prepared import Row, forget, run, run_unprepared

Result = TypeVar("Result")

ATTEMPTS = 12
_FIRST_PAUSE_SECONDS = 0.005
_LONGEST_PAUSE_SECONDS = 0.2


class MetConcurrentWrite(Exception):
    """Another transaction got in between; the statement left nothing behind and can run again."""


def with_retries(attempt: Callable[[], Result]) -> Result:
    """Run again after a concurrent write, a deadlock or a lost connection, with growing random pauses.

    A write whose connection was lost may have happened: running it again is harmless, since an upsert or update
    with the same content changes nothing, and what was deleted stays deleted.
    """
    for number in range(ATTEMPTS):
        try:
            return attempt()
        except MetConcurrentWrite:
            longest = min(_LONGEST_PAUSE_SECONDS, _FIRST_PAUSE_SECONDS * 2**number)
            time.sleep(random.uniform(0, longest))  # noqa: S311  spreads the writers, hides nothing
    raise TooMuchContention


def execute(statement: str, parameters: Mapping[str, Any], using: str) -> list[Row]:
    """Run a statement as its own transaction, or below a savepoint where the caller has opened one."""
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
            connection.close()  # Where it was a primary, there may be another one now.
        raise
    except ProgrammingError as error:
        if isinstance(error.__cause__, errors.InvalidSqlStatementName):
            # Somebody said DEALLOCATE ALL: psycopg after a rollback, or a connection pooler between two clients.
            forget(connection.connection)
            raise MetConcurrentWrite from error
        raise


def _is_pooled(connection: BaseDatabaseWrapper) -> bool:
    """Whether each transaction may have another session of the server: Django's setting for poolers that do so."""
    return bool(connection.settings_dict.get("DISABLE_SERVER_SIDE_CURSORS"))


def _run(statement: str, parameters: Mapping[str, Any], connection: BaseDatabaseWrapper) -> list[Row]:
    if connection.connection is None:
        connection.ensure_connection()
    runs = run_unprepared if _is_pooled(connection) else run
    with connection.wrap_database_errors:
        return runs(statement, parameters, connection.connection)


def _has_lost_its_server(connection: BaseDatabaseWrapper) -> bool:
    """Whether a connection that once stood is gone; a server that cannot be reached at all is another matter."""
    if connection.connection is None or connection.in_atomic_block:
        return False
    return bool(connection.connection.closed or connection.connection.broken)
