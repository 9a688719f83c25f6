"""System checks of the database's roles: what the application and the queries of rules could do if they were abused.

They run with those of `database.py`, and only warn: earlier installations are served as before.
"""

from collections.abc import Iterable
from typing import Any

import psycopg
from django.core.checks import CheckMessage, Tags, Warning, register
from django.db import DEFAULT_DB_ALIAS, connections

from edfi_api.conf import api_settings
from edfi_api.validation.connections import connected
from edfi_api.validation.login import TABLES, login_parameters

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
