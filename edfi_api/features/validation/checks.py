"""A system check: what the login of rules could do if it were abused. It only warns, so that earlier installations are
served as before.
"""

from collections.abc import Iterable
from typing import Any

import psycopg
from django.core.checks import CheckMessage, Tags, Warning, register
from django.db import DEFAULT_DB_ALIAS, connections

from edfi_api.common.conf import api_settings
from edfi_api.core.data_stores.databases import POWERS, ROLES_PAGE
from edfi_api.features.validation.connections import TABLES, connect, login_parameters

_MOST_TABLES = 5
_IS_MEMBER = "SELECT coalesce(pg_has_role(session_user, to_regrole(quote_ident(%s)), 'MEMBER'), false)"
_READABLE = """
SELECT c.relname FROM pg_class c
 WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind IN ('r', 'p') AND c.relname <> ALL (%s)
   AND has_any_column_privilege(c.oid, 'SELECT')
 ORDER BY c.relname
"""


@register(Tags.database)
def login_of_rules_is_limited(databases: Iterable[str] | None = None, **_: Any) -> list[CheckMessage]:
    """A warning if the login may do more than rules need."""
    return _rules() if DEFAULT_DB_ALIAS in (databases or ()) else []


def _rules() -> list[CheckMessage]:
    login = login_parameters(DEFAULT_DB_ALIAS)
    if not login:
        if not api_settings.RULES:
            return []
        return [
            _about_rules(
                f"MEADOWLARK_RULE_DATABASE_URL is not set: rules of MEADOWLARK_RULES are not run; {ROLES_PAGE}."
            )
        ]
    try:
        with connect(DEFAULT_DB_ALIAS, login) as connection:
            excess = list(_excess(connection))
    except psycopg.OperationalError as error:
        return [_about_rules(f"The login of rules cannot connect: {' '.join(str(error).split())}")]
    return [_about_rules(f"The login of rules {each}; {ROLES_PAGE}.") for each in excess]


def _excess(connection: psycopg.Connection[tuple[Any, ...]]) -> Iterable[str]:
    """Yield what the login is or may do that rules do not need."""
    [(powers,)] = connection.execute(POWERS).fetchall()
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
