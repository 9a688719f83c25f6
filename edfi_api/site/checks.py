"""System checks of the database, of the environment and of the model.

Those of the database say whether this version can serve it, and what its user could do if it were abused. They run
before `migrate`, with `manage.py check --database default`, and before a server starts. That of the user only warns:
earlier installations are served as before. The others need no database: whether a variable of the environment is a
misspelt setting, whether the model compiles to a surface, and whether the rules of writes and the layout of the pages
of persons fit it.
"""

import logging
import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from difflib import get_close_matches
from typing import Any

from django.core.checks import CheckMessage, Error, Tags, Warning, register
from django.core.exceptions import ImproperlyConfigured
from django.db import DEFAULT_DB_ALIAS, connections
from django.db.backends.base.base import BaseDatabaseWrapper

from edfi_api.common.conf import api_settings
from edfi_api.common.logs.printable import counted
from edfi_api.common.settings_table import PREFIX, SETTINGS
from edfi_api.core.data_stores import provisioning_state
from edfi_api.core.data_stores.databases import POWERS, ROLES_PAGE
from edfi_api.core.data_stores.provisioning_state import OF_DEVELOPMENT, is_of_development
from edfi_api.core.served import current_compilation
from edfi_api.core.writes.rules.configured import configured_rules
from edfi_api.model.apischema.format import ApiSchemaError
from edfi_api.model.metaed.errors import ModelErrors
from edfi_api.site.person_pages.layout import InvalidLayout, current_layout
from edfi_api.web.admin_kit.kinds import check_own_words

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
    """Return whether two open connections are served by the same backend process."""
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


_log = logging.getLogger(__name__)


def unknown_variables(environment: Mapping[str, str]) -> Iterator[str]:
    """A sentence for each variable that is named as a setting and is none, with the nearest name. Connection strings of
    data stores may be in variables of any name."""
    known = [setting.variable.removeprefix(PREFIX) for setting in SETTINGS.values()]
    for variable, value in sorted(environment.items()):
        name = variable.removeprefix(PREFIX)
        if variable.startswith(PREFIX) and name not in known and "://" not in value:
            nearest = get_close_matches(name, known, n=1)
            yield f"{variable} is not a setting.{f' Is {PREFIX}{nearest[0]} meant?' if nearest else ''}"


def log_unknown_variables() -> None:
    """Log unknown variables at the start of a server."""
    for sentence in unknown_variables(os.environ):
        _log.warning(sentence)


def warnings_of_the_model() -> Iterator[str]:
    """A sentence that counts the warnings about the MetaEd text of the model, if there are any."""
    if number := current_compilation().text_warnings:
        yield f"The model has {counted(number, 'warning')}; manage.py check_model lists them."


def log_warnings_of_the_model() -> None:
    """Log the warnings of the model at the start of a server."""
    for sentence in warnings_of_the_model():
        _log.warning(sentence)


def problems_of_person_pages() -> list[str]:
    """A line for each problem of the layout of the pages of persons."""
    with suppress(ModelErrors, ApiSchemaError, ImproperlyConfigured):  # `model_makes_a_surface` reports it.
        try:
            current_layout()
        except InvalidLayout as error:
            return str(error).splitlines()
    return []


def log_problems_of_person_pages() -> None:
    """Log them at the start of a server, which serves everything but these pages."""
    for problem in problems_of_person_pages():
        _log.error(problem)


@register()
def variables_are_settings(**_: Any) -> list[CheckMessage]:
    return [Warning(sentence, id="edfi_api.W004") for sentence in unknown_variables(os.environ)]


@register()
def model_makes_a_surface(**_: Any) -> list[CheckMessage]:
    """An error for each problem of MetaEd text, with its location, or for the first problem of an ApiSchema file or the
    settings. A warning for each part of an ApiSchema file that is not served, and for what prevents XML schemas; the
    number of others."""
    try:
        compilation = current_compilation()
    except ModelErrors as errors:
        return [Error(str(problem), id="edfi_api.E001") for problem in errors.problems]
    except ApiSchemaError as error:
        return [Error(str(error), id="edfi_api.E002")]
    except ImproperlyConfigured as error:
        return [Error(str(error), id="edfi_api.E003")]
    return [
        *(Warning(warning, id="edfi_api.W001") for warning in compilation.schema_files.warnings),
        *(Warning(warning, id="edfi_api.W003") for warning in compilation.warnings),
        *(Warning(sentence, id="edfi_api.W009") for sentence in warnings_of_the_model()),
    ]


@register()
def words_of_kinds_can_be_read(**_: Any) -> list[CheckMessage]:
    """An error for a file of words that cannot be used."""
    try:
        check_own_words()
    except ImproperlyConfigured as error:
        return [Error(str(error), id="edfi_api.E012")]
    return []


@register()
def write_rules_fit(**_: Any) -> list[CheckMessage]:
    """An error for each problem of the rules of writes, without which the server does not start."""
    if not api_settings.WRITE_RULES:
        return []
    with suppress(ModelErrors, ApiSchemaError, ImproperlyConfigured):  # `model_makes_a_surface` reports it.
        return [Error(problem, id="edfi_api.E008") for problem in configured_rules().problems]
    return []


@register()
def pages_of_persons_fit(**_: Any) -> list[CheckMessage]:
    """An error for each line about the layout of the pages of persons."""
    return [Error(problem, id="edfi_api.E011") for problem in problems_of_person_pages()]
