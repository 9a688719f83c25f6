"""Makes the databases of the data stores that ODS instances have become, as copies of the template of their server."""

from __future__ import annotations

import re

from django.db import DEFAULT_DB_ALIAS, connections
from psycopg.conninfo import make_conninfo

from edfi_api.core.data_stores.databases import alias_of, allowed_destination
from edfi_api.core.data_stores.models import DataStore
from edfi_api.core.data_stores.routes import read_table
from edfi_api.core.data_stores.stores import set_connection
from edfi_api.features.loading.provisioning.databases import create_from_template
from edfi_api.features.loading.provisioning.provisioning import fill, provision

# PostgreSQL cuts names at 63 bytes.
_LONGEST_BEGINNING = 40


def provision_beside(store: DataStore, address: str | None) -> None:
    """Give the data store a database on the server of this connection string, by default that of the admin database,
    unless it leads to one already; then it is online. Can be repeated.

    Raises ConnectionUnusable, ValidationError, NoStoreKey, DatabaseError.
    """
    if store.connection is None:
        set_connection(store, _beside(address or _control(), store))
    using = alias_of(read_table().stores[store.pk].primary)
    create_from_template(using, fill)
    provision(store, using)


def _beside(address: str, store: DataStore) -> str:
    """The connection string of a database of the same server, named after that one and the data store."""
    where = allowed_destination(address)
    beginning = re.sub(r"\W+", "_", f"{where.database}_{store.name}".lower(), flags=re.ASCII)[:_LONGEST_BEGINNING]
    given = {"host": where.host, "port": where.port, "user": where.user, "password": where.password, **where.options}
    return make_conninfo(dbname=f"{beginning}_{store.pk}", **{name: value for name, value in given.items() if value})


def _control() -> str:
    """The connection string of the admin database."""
    given = connections[DEFAULT_DB_ALIAS].get_connection_params()
    names = ("host", "port", "user", "password", "dbname", "sslmode", "target_session_attrs")
    return make_conninfo(**{name: given[name] for name in names if given.get(name)})
