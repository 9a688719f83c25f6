"""What only a superuser of the server may do, for tests that need it; the application is none."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

import psycopg
from django.conf import settings
from django.db import DEFAULT_DB_ALIAS, connections
from psycopg import sql

from tests.support import databases

# Of the embedded server. Of others the user of DATABASE_URL may be one.
NAME = os.environ.get("MEADOWLARK_TESTS_SUPERUSER", "postgres")
APPLICATION = settings.DATABASES[DEFAULT_DB_ALIAS]["USER"]
# In a schema of its own, so that it is no object of the database under test.
_FUNCTION = """
CREATE SCHEMA IF NOT EXISTS tests;
CREATE OR REPLACE FUNCTION tests.as_superuser(statement text) RETURNS void LANGUAGE plpgsql SECURITY DEFINER AS $$
BEGIN
    EXECUTE statement;
END
$$;
REVOKE EXECUTE ON FUNCTION tests.as_superuser FROM PUBLIC;
"""


def url_of(url: str) -> str:
    """The URL of an embedded server for its superuser."""
    return url.replace("://meadowlark@", f"://{NAME}@")


def parameters(using: str | None = None) -> dict[str, Any]:
    """Parameters of psycopg for a connection of a superuser to a database of Django's settings."""
    given = connections[using or databases.DOCUMENTS].get_connection_params()
    return {name: value for name, value in given.items() if name not in ("cursor_factory", "context")} | {"user": NAME}


def own_role(name: str) -> str:
    """The name of a role of this process; other processes of tests use the same server, which has all roles."""
    return f"{name}_{os.environ.get('PYTEST_XDIST_WORKER', 'alone')}"


def execute_elsewhere(statement: str, using: str | None = None) -> None:
    """Execute a statement on a connection of its own; it commits."""
    with psycopg.connect(**parameters(using), autocommit=True) as connection:
        connection.execute(statement)


def execute(statement: str) -> None:
    """Execute statements in the transaction of the test, also `SET LOCAL`."""
    with databases.connection.cursor() as cursor:
        cursor.execute("SELECT current_database()")
        [(name,)] = cursor.fetchall()
        _create_function(databases.DOCUMENTS, name)
        cursor.execute("SELECT tests.as_superuser(%s)", [statement])


def drop_database(name: str, url: str) -> None:
    """Drop a database, if it exists, of the server of this URL, with the sessions and autovacuum workers in it."""
    with psycopg.connect(url, user=NAME, autocommit=True) as connection:
        connection.execute(sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(sql.Identifier(name)))


@contextmanager
def connected(user: str = NAME) -> Iterator[None]:
    """Within the context, Django's connection to the documents is a superuser's, or that of another user."""
    connection = connections[databases.DOCUMENTS]
    application = connection.settings_dict["USER"]
    connection.close()
    connection.settings_dict["USER"] = user
    try:
        yield
    finally:
        connection.close()
        connection.settings_dict["USER"] = application


def let_skip_triggers() -> None:
    """Let the application set `session_replication_role`."""
    execute_elsewhere(f"GRANT SET ON PARAMETER session_replication_role TO {APPLICATION}")


@cache
def _create_function(using: str, database: str) -> None:
    with psycopg.connect(**parameters(using) | {"dbname": database}, autocommit=True) as connection:
        connection.execute(_FUNCTION)
        connection.execute(f"GRANT USAGE ON SCHEMA tests TO {APPLICATION}")
        connection.execute(f"GRANT EXECUTE ON FUNCTION tests.as_superuser TO {APPLICATION}")
