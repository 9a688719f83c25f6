"""System checks of the database: whether this version can serve it, what its roles could do if they were abused, and
whether its SQL views are those of the served model.

They run before `migrate`, with `manage.py check --database default`, and before a server starts. Those of roles only
warn: earlier installations are served as before.
"""

from collections.abc import Iterable
from typing import Any

import psycopg
from django.core.checks import CheckMessage, Error, Tags, Warning, register
from django.core.exceptions import ImproperlyConfigured
from django.db import DEFAULT_DB_ALIAS, connections
from django.db.backends.base.base import BaseDatabaseWrapper

from edfi_api.common.conf import api_settings
from edfi_api.core.data_stores import applied_migrations
from edfi_api.core.data_stores.provisioning_state import OF_DEVELOPMENT, is_of_development
from edfi_api.features.sql_views.current_fingerprint import current_fingerprint
from edfi_api.features.validation.connections import connected
from edfi_api.features.validation.login import TABLES, login_parameters

# Migrations of a newer version are only a warning: during an upgrade, servers of both versions run concurrently.
NEWER = "edfi_api.W002"
# PgBouncer assigns the server connection that was returned last; with other clients active, it may be another one.
_ATTEMPTS = 5
_PAGE = "see Roles in meadowlark/docs/operate/database.md"
_MOST_TABLES = 5
# Roles that read and write files of the server, or run programs there; superusers are members of all.
_POWERS = """
SELECT CASE WHEN r.rolsuper THEN ARRAY['a superuser'] ELSE ARRAY(
           SELECT 'a member of ' || m.rolname FROM pg_roles m
            WHERE m.rolname IN ('pg_read_server_files', 'pg_write_server_files', 'pg_execute_server_program')
              AND pg_has_role(r.oid, m.oid, 'MEMBER')
            ORDER BY m.rolname) END
  FROM pg_roles r WHERE r.rolname = session_user
"""
_IS_MEMBER = "SELECT coalesce(pg_has_role(session_user, to_regrole(quote_ident(%s)), 'MEMBER'), false)"
_READABLE = """
SELECT c.relname FROM pg_class c
 WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind IN ('r', 'p') AND c.relname <> ALL (%s)
   AND has_any_column_privilege(c.oid, 'SELECT')
 ORDER BY c.relname
"""


@register(Tags.database)
def database_can_be_served(databases: Iterable[str] | None = None, **_: Any) -> list[CheckMessage]:
    """One message, of one line, for each reason why not."""
    if "default" not in (databases or ()):
        return []
    return [*_encoding("default"), *_pooling("default"), *_migrations("default")]


def _encoding(using: str) -> list[CheckMessage]:
    connection = connections[using]
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT current_database(), pg_encoding_to_char(encoding) FROM pg_database"
            " WHERE datname = current_database()"
        )
        name, encoding = cursor.fetchone()
    if encoding == "UTF8":
        return []
    return [
        Error(
            f'The encoding of the database "{name}" is {encoding}; it has to be UTF8, since JSON is text of any'
            f" language. A new one: CREATE DATABASE ... ENCODING 'UTF8' TEMPLATE template0.",
            id="edfi_api.E004",
        )
    ]


def _pooling(using: str) -> list[CheckMessage]:
    connection = connections[using]
    if connection.settings_dict["DISABLE_SERVER_SIDE_CURSORS"] or not _is_pooled_by_transaction(connection):
        return []
    return [
        Error(
            "The database is reached through a pooler in transaction mode (pool_mode = transaction of PgBouncer): set"
            " MEADOWLARK_TRANSACTION_POOLING=true.",
            id="edfi_api.E005",
        )
    ]


def _is_pooled_by_transaction(connection: BaseDatabaseWrapper) -> bool:
    """Whether two open connections are served by the same backend process."""
    process = _process(connection)
    if process == connection.connection.info.backend_pid:
        return False  # The backend of the startup message executes the statements: there is no pooler.
    for _ in range(_ATTEMPTS):
        other = connections.create_connection(connection.alias)
        try:
            if _process(other) == _process(connection):
                return True
        finally:
            other.close()
    return False


def _process(connection: BaseDatabaseWrapper) -> int:
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_backend_pid()")
        return int(cursor.fetchone()[0])


def _migrations(using: str) -> list[CheckMessage]:
    if is_of_development(using):
        return [Error(OF_DEVELOPMENT, id="edfi_api.E007")]
    changed, unknown = applied_migrations.changed(using), applied_migrations.unknown(using)
    messages: list[CheckMessage] = []
    if changed:
        messages.append(
            Error(
                "The tables of the database are not those of this version: migrations with another text made them"
                f" ({', '.join(changed)}). Export the documents with the version that made it, and load them into a new"
                " database.",
                id="edfi_api.E006",
            )
        )
    if unknown:
        messages.append(
            Warning(
                f"A newer version of Meadowlark has migrated the database ({', '.join(unknown)}); run that one.",
                id=NEWER,
            )
        )
    return messages


@register(Tags.database)
def database_roles_are_limited(databases: Iterable[str] | None = None, **_: Any) -> list[CheckMessage]:
    """A warning for each role that may do more than it needs."""
    if DEFAULT_DB_ALIAS not in (databases or ()):
        return []
    return [*_application(), *_rules()]


def _application() -> list[CheckMessage]:
    with connections[DEFAULT_DB_ALIAS].cursor() as cursor:
        cursor.execute(_POWERS)
        [(powers,)] = cursor.fetchall()
    if not powers:
        return []
    return [Warning(f"The user of the database is {' and '.join(powers)}; {_PAGE}.", id="edfi_api.W007")]


def _rules() -> list[CheckMessage]:
    login = login_parameters(DEFAULT_DB_ALIAS)
    if not login:
        if not api_settings.RULES:
            return []
        return [
            _about_rules(f"MEADOWLARK_RULE_DATABASE_URL is not set: rules of MEADOWLARK_RULES are not run; {_PAGE}.")
        ]
    try:
        with connected(DEFAULT_DB_ALIAS, login) as connection:
            excess = list(_excess(connection))
    except psycopg.OperationalError as error:
        return [_about_rules(f"The login of rules cannot connect: {' '.join(str(error).split())}")]
    return [_about_rules(f"The login of rules {each}; {_PAGE}.") for each in excess]


def _excess(connection: psycopg.Connection[tuple[Any, ...]]) -> Iterable[str]:
    """What the login is or may do that rules do not need."""
    [(powers,)] = connection.execute(_POWERS).fetchall()
    if powers:
        yield f"is {' and '.join(powers)}"
        return
    application = connections[DEFAULT_DB_ALIAS].get_connection_params().get("user")
    if application and connection.execute(_IS_MEMBER, [application]).fetchone() == (True,):
        yield "can act as the user of the database"
    elif tables := [name for (name,) in connection.execute(_READABLE, [list(TABLES)])]:
        more = f" and {len(tables) - _MOST_TABLES} more" if len(tables) > _MOST_TABLES else ""
        yield f"can read {', '.join(tables[:_MOST_TABLES])}{more}"


def _about_rules(text: str) -> CheckMessage:
    return Warning(text, id="edfi_api.W008")


@register(Tags.database)
def sql_views_are_up_to_date(databases: Iterable[str] | None = None, **_: Any) -> list[CheckMessage]:
    """A warning if the views were created from another model, or by another version."""
    return [_warning(using) for using in databases or () if _is_stale(using)]


def _is_stale(using: str) -> bool:
    with connections[using].cursor() as cursor:
        cursor.execute("SELECT to_regclass('sql_view') IS NOT NULL")
        if not cursor.fetchone()[0]:
            return False
        cursor.execute("SELECT digest FROM sql_view WHERE schema = ''")
        row = cursor.fetchone()
    try:
        return row is not None and row[0] != current_fingerprint()
    except ImproperlyConfigured:  # Another check reports it.
        return False


def _warning(using: str) -> CheckMessage:
    return Warning(
        f'The SQL views of the database "{using}" were created from another model or by another version; manage.py'
        " create_sql_views brings them in line.",
        id="edfi_api.W006",
    )
