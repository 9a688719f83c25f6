"""What statements end with, whatever they are about."""

from django.db import InterfaceError, OperationalError
from psycopg.errors import ReadOnlySqlTransaction


class TooMuchContention(Exception):
    """Every attempt conflicted with concurrent writes; nothing was written, a later retry may succeed."""


def is_outage(error: BaseException) -> bool:
    """Whether the error is temporary: the database is unreachable, starting, out of disk space or connections, or read
    only as a standby is, for which Django raises InternalError."""
    return isinstance(error, OperationalError | InterfaceError) or isinstance(error.__cause__, ReadOnlySqlTransaction)
