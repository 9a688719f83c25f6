"""Ends the session of a command before one of its statements, and then before another, until it comes to its end."""

from __future__ import annotations

from collections.abc import Callable

import psycopg
from django.core.management import CommandError
from django.db import connection
from django.db.utils import InterfaceError, OperationalError


def killed_at(number: int) -> Callable:
    """Ends the session from another one before this statement."""
    statements = iter(range(number + 1))

    def execute(execute, *arguments):
        if next(statements, None) == number:
            with psycopg.connect(connection.connection.info.dsn, autocommit=True) as other:
                other.execute("SELECT pg_terminate_backend(%s, 5000)", [connection.connection.info.backend_pid])
        return execute(*arguments)

    return execute


def kills(action: Callable[[], object], state: Callable[[], object], every: int) -> int:
    """How often the action was killed, before every so manieth of its statements, until it came to its end; after each
    kill the state was the one before."""
    before = state()
    for count, number in enumerate(range(0, 200, every)):
        try:
            with connection.execute_wrapper(killed_at(number)):
                action()
            return count
        except (OperationalError, InterfaceError, CommandError):
            connection.close()
            assert state() == before, number
    raise AssertionError("never came to its end")
