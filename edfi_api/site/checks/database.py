"""System checks of the database: whether this version can serve it, and what its user could do if it were abused.

They run before `migrate`, with `manage.py check --database default`, and before a server starts. That of the user only
warns: earlier installations are served as before.
"""

from collections.abc import Iterable
from typing import Any

from django.core.checks import CheckMessage, Error, Tags, Warning, register
from django.db import DEFAULT_DB_ALIAS, connections
from django.db.backends.base.base import BaseDatabaseWrapper

from edfi_api.core.data_stores import provisioning_state
from edfi_api.core.data_stores.databases import POWERS, ROLES_PAGE
from edfi_api.core.data_stores.provisioning_state import OF_DEVELOPMENT, is_of_development

# Migrations of a newer version that take nothing away are only a warning: during an upgrade, servers of both versions
# run concurrently.
NEWER = "edfi_api.W002"
_OLDEST_POSTGRESQL = 15
# PgBouncer assigns the server connection that was returned last; with other clients active, it may be another one.
_ATTEMPTS = 5


@register(Tags.database)
def database_can_be_served(databases: Iterable[str] | None = None, **_: Any) -> list[CheckMessage]:
    """One message, of one line, for each reason why not."""
    if "default" not in (databases or ()):
        return []
    return [*_version("default"), *_encoding("default"), *_pooling("default"), *_migrations("default")]


def _version(using: str) -> list[CheckMessage]:
    major = connections[using].pg_version // 10_000  # type: ignore[attr-defined]  # Of Django's for PostgreSQL.
    if major >= _OLDEST_POSTGRESQL:
        return []
    return [
        Error(
            f"The server of the database is PostgreSQL {major}; it has to be {_OLDEST_POSTGRESQL} or newer. Upgrade it"
            " (pg_upgrade), or set DATABASE_URL to the address of a newer one.",
            id="edfi_api.E009",
        )
    ]


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
    changed, unknown = provisioning_state.changed(using), provisioning_state.unknown(using)
    contracted = provisioning_state.contracted(using)
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
    if contracted:
        messages.append(
            Error(
                "A newer version of Meadowlark has taken away what this version uses"
                f" ({', '.join(contracted)}); run that one.",
                id="edfi_api.E010",
            )
        )
    elif unknown:
        messages.append(
            Warning(
                f"A newer version of Meadowlark has migrated the database ({', '.join(unknown)}); run that one.",
                id=NEWER,
            )
        )
    return messages


@register(Tags.database)
def role_of_application_is_limited(databases: Iterable[str] | None = None, **_: Any) -> list[CheckMessage]:
    """A warning if the role may do more than it needs."""
    if DEFAULT_DB_ALIAS not in (databases or ()):
        return []
    with connections[DEFAULT_DB_ALIAS].cursor() as cursor:
        cursor.execute(POWERS)
        [(powers,)] = cursor.fetchall()
    if not powers:
        return []
    return [Warning(f"The user of the database is {' and '.join(powers)}; {ROLES_PAGE}.", id="edfi_api.W007")]
