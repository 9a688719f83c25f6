"""The login of PostgreSQL for the queries of rules, which may read documents and nothing else.

It is a login rather than a role that the application sets: a query can reset a role, but not the user that has logged
in. The application, which owns the tables, grants the privileges when it migrates a database.
"""

from collections.abc import Mapping
from typing import Any

from django.db import DEFAULT_DB_ALIAS, connections
from psycopg import sql

from edfi_api.common.conf import api_settings
from edfi_api.features.validation.rule import Rule
from edfi_api.features.validation.rule_files import BUNDLED

# What rules read, besides SQL views.
TABLES = ("document", "organization_closure", "resource_type")
# Parameters of libpq that belong to each other.
_OF_THE_USER = {"user", "password", "passfile", "sslcert", "sslkey", "sslpassword"}
_OF_THE_ADDRESS = {"host", "hostaddr", "port"}
# The privilege is NULL for tables and a role that do not exist.
_LACKING = """
SELECT name FROM unnest(%s::text[]) AS t (name)
 WHERE NOT has_table_privilege(to_regrole(quote_ident(%s)), to_regclass(name), 'SELECT')
"""


class NoLogin(Exception):
    """Rules of folders are not run without the login."""

    def __str__(self) -> str:
        return (
            "is not run: rules of MEADOWLARK_RULES need a login of the database that may do nothing but read, and"
            " MEADOWLARK_RULE_DATABASE_URL names none"
        )


def login_for(rule: Rule, using: str) -> Mapping[str, Any]:
    """What a connection for the rule has in place of the parameters of the application's, for psycopg; empty for a
    bundled rule where there is no login. Raises NoLogin."""
    login = login_parameters(using)
    if not login and not rule.path.is_relative_to(BUNDLED):
        raise NoLogin
    return login


def login_parameters(using: str) -> Mapping[str, Any]:
    """The login's parameters for a database; empty if there is none."""
    login: Mapping[str, Any] = api_settings.RULE_LOGIN
    if using == DEFAULT_DB_ALIAS:
        return login
    # Replicas and data stores have hosts of their own.
    return {name: value for name, value in login.items() if name not in _OF_THE_ADDRESS}


def in_place_of(application: Mapping[str, Any], login: Mapping[str, Any]) -> dict[str, Any]:
    """The parameters of the application's connection with those of the login: another user, and another address if
    the login has one."""
    replaced = _OF_THE_USER | (_OF_THE_ADDRESS if login.keys() & _OF_THE_ADDRESS else set())
    return {name: value for name, value in application.items() if name not in replaced} | dict(login)


def grant_reading(*, using: str, **_: Any) -> None:
    """Receiver of `post_migrate`: lets the login read, if there is one on the server."""
    user = api_settings.RULE_LOGIN.get("user")
    if not user:
        return
    with connections[using].cursor() as cursor:
        cursor.execute(_LACKING, [list(TABLES), user])
        for (table,) in cursor.fetchall():
            grant = sql.SQL("GRANT SELECT ON {} TO {}").format(sql.Identifier(table), sql.Identifier(user))
            cursor.execute(grant.as_string(cursor.connection))
