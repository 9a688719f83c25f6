"""A time limit for the statements of a page or a look-up, which is answered without what takes longer."""

from collections.abc import Iterator
from contextlib import contextmanager

from django.db import OperationalError, connections, transaction
from psycopg.errors import QueryCanceled

_LIMIT = """
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
            [(before, _)] = cursor.execute(_LIMIT, [str(milliseconds)]).fetchall()
            yield
            # The transaction may be a caller's.
            cursor.execute(_RESTORE, [before])
    except OperationalError as error:
        if isinstance(error.__cause__, QueryCanceled):
            raise TookTooLong from error
        raise
