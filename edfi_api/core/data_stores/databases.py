"""Databases of data stores as entries of Django's `connections`, which all threads of the process share.

The only module that adds and removes entries. An alias has the revision of its connection string, so an entry never
changes. System checks ask what a role of the database can do beyond its tables.
"""

from typing import Any

from django.db import DEFAULT_DB_ALIAS, connections
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.utils import ConnectionHandler

from edfi_api.common.conf import api_settings
from edfi_api.core.data_stores.connection_strings import (
    MAIN,
    Destination,
    decrypt,
    destination,
    is_allowed,
    is_masked,
    servers,
)
from edfi_api.core.data_stores.exceptions import ConnectionNotAllowed, ConnectionUnusable
from edfi_api.core.data_stores.routing import Database

# Settings of the admin database that connections to all others need too.
_INHERITED = ("keepalives_idle", "keepalives_interval", "keepalives_count")
# Requests for other data stores must not wait for the threads that wait for this one.
_TIMEOUTS = {"connect_timeout": 2, "tcp_user_timeout": 10_000}

REQUEST_OPTIONS = "REQUEST_OPTIONS"


def alias_of(database: Database) -> str:
    """Register a database and return its alias, which can be used from now on. Raises ConnectionUnusable."""
    if database.alias in connections.settings:
        return database.alias
    if database.connection is None:
        raise ConnectionUnusable("there is none")
    text = decrypt(database.connection)
    if text == MAIN:
        return DEFAULT_DB_ALIAS
    add(database.alias, allowed_destination(text), f"meadowlark/{database.data_store}")
    return database.alias


def allowed_destination(text: str) -> Destination:
    """Return where a connection string leads: to the server of the admin database, or to a host of `STORE_HOSTS`.
    Everything else would let users who may enter connection strings find out which ports of the network are open.

    Raises ConnectionUnusable, of which ConnectionNotAllowed is one.
    """
    if is_masked(text):
        raise ConnectionNotAllowed("a mask stands in the place of its password")
    where = destination(text)
    control = connections.settings[DEFAULT_DB_ALIAS]
    others = where.servers - servers(control["HOST"], str(control["PORT"]))
    if not all(is_allowed(host, api_settings.STORE_HOSTS) for host, _ in others):
        raise ConnectionNotAllowed("its host is neither that of the control database nor in MEADOWLARK_STORE_HOSTS")
    return where


def add(alias: str, where: Destination, application_name: str) -> None:
    """Make the alias one of Django's databases."""
    control = connections.settings[DEFAULT_DB_ALIAS]
    inherited = {name: control["OPTIONS"][name] for name in _INHERITED if name in control["OPTIONS"]}
    added: dict[str, Any] = {
        "ENGINE": control["ENGINE"],
        "NAME": where.database,
        "USER": where.user,
        "PASSWORD": where.password,
        "HOST": where.host,
        "PORT": where.port,
        "CONN_MAX_AGE": control["CONN_MAX_AGE"],
        "CONN_HEALTH_CHECKS": control["CONN_HEALTH_CHECKS"],
        "DISABLE_SERVER_SIDE_CURSORS": where.is_pooled,
        "OPTIONS": {**inherited, **_TIMEOUTS, "application_name": application_name, **where.options},
    }
    limit(added, control.get(REQUEST_OPTIONS, ""))
    configured = connections.configure_settings({DEFAULT_DB_ALIAS: control, alias: added})
    connections.settings[alias] = configured[alias]


def add_on_same_server(using: str, name: str) -> str:
    """The alias of another database on the server of `using`, for the same user; until `remove`."""
    alias = f"{using}_{name}"
    connections.settings[alias] = connections.settings[using] | {"NAME": name}
    return alias


def own_connection(alias: str, application_name: str) -> BaseDatabaseWrapper:
    """A connection of Django's class to the database of an alias, but none of the pool for requests: its
    owner closes it."""
    made = ConnectionHandler.create_connection(connections, alias)
    options = made.settings_dict["OPTIONS"] | {"application_name": application_name}
    made.settings_dict = made.settings_dict | {"OPTIONS": options}
    return made


def data_store_of(alias: str) -> str:
    """The id of the data store that an alias of a database, its replica or its snapshot belongs to."""
    return alias.split("_")[1]


def is_connected(alias: str) -> bool:
    """Return whether this thread has an open connection to it. Creates none, as `connections[alias]` would."""
    wrapper = getattr(connections._connections, alias, None)  # type: ignore[attr-defined]
    return wrapper is not None and wrapper.connection is not None and not wrapper.connection.closed


def has_met_an_error(alias: str) -> bool:
    """Return whether this thread's connection to it has been refused, or had another error than one of data or
    integrity, since the request began to use it."""
    wrapper = getattr(connections._connections, alias, None)  # type: ignore[attr-defined]
    return wrapper is not None and wrapper.errors_occurred


def remove(alias: str) -> None:
    """The alias can no longer be used, except by threads that have a connection to it."""
    connections.settings.pop(alias, None)


def limit(database: dict[str, Any], options: str) -> None:
    """Add options to an entry of Django's databases; behind a pooler in transaction mode there are no session
    options. The entry keeps them for data stores that are added later."""
    database[REQUEST_OPTIONS] = options
    if options and not database["DISABLE_SERVER_SIDE_CURSORS"]:
        given = database["OPTIONS"].get("options", "")
        database["OPTIONS"]["options"] = f"{given} {options}".strip()


ROLES_PAGE = "see Roles in meadowlark/docs/operate/database.md"
# Whether the session is of a superuser, or of a member of the roles that read and write files of the server, or run
# programs there.
POWERS = """
SELECT CASE WHEN r.rolsuper THEN ARRAY['a superuser'] ELSE ARRAY(
           SELECT 'a member of ' || m.rolname FROM pg_roles m
            WHERE m.rolname IN ('pg_read_server_files', 'pg_write_server_files', 'pg_execute_server_program')
              AND pg_has_role(r.oid, m.oid, 'MEMBER')
            ORDER BY m.rolname) END
  FROM pg_roles r WHERE r.rolname = session_user
"""
