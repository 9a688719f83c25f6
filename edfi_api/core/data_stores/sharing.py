"""Two tenants led to one database would see each other's documents: it is refused where a connection string is entered,
and where one is used, unless the setting TENANTS_SHARE_DATABASES allows it."""

from itertools import chain
from typing import Any, NamedTuple

from django.db import DEFAULT_DB_ALIAS, ProgrammingError, connections
from django.db.models import QuerySet

from edfi_api.common.conf import api_settings
from edfi_api.core.data_stores.connection_strings import MAIN, decrypt, destination, servers
from edfi_api.core.data_stores.exceptions import ConnectionNotAllowed, ConnectionUnusable
from edfi_api.core.data_stores.models import DataStore, DataStoreDerivative
from edfi_api.core.data_stores.routes import routes
from edfi_api.core.data_stores.routing import Store
from edfi_api.core.storage.database_state import database_state

# Names of hosts differ for one server; its identifier and the number of the database do not.
_IDENTITY = """
SELECT system_identifier::text || '/' || (SELECT oid FROM pg_database WHERE datname = current_database())
  FROM pg_control_system()
"""
# The name of a database, and a server that may have it.
_Place = tuple[str, tuple[str, str]]


def identity(using: str) -> str:
    """Return an identity that is the same for all connection strings that lead to one database. Raises Django's
    DatabaseError.
    """
    with connections[using].cursor() as cursor:
        return str(cursor.execute(_IDENTITY).fetchone()[0])


def refuse_shared_database(connection: str, tenant: int | None) -> None:
    """Raise ConnectionNotAllowed if the connection string leads to the database of another tenant, by hosts, port and
    name; `check_data_stores` compares databases themselves. Raises other ConnectionUnusable too."""
    if tenant is None or api_settings.TENANTS_SHARE_DATABASES:
        return
    wanted = _places(connection)
    of_others = DataStore.objects.filter(tenant__isnull=False).exclude(tenant=tenant)
    derivatives = DataStoreDerivative.objects.filter(data_store__in=of_others)
    for encrypted in chain(_connections(of_others), _connections(derivatives)):
        try:
            places = _places(decrypt(encrypted))
        except ConnectionUnusable:
            continue
        if wanted & places:
            raise ConnectionNotAllowed("it leads to a database of another tenant")


def _connections(rows: QuerySet[Any]) -> list[str]:
    return list(rows.filter(connection__isnull=False).values_list("connection", flat=True))


def _places(connection: str) -> set[_Place]:
    if connection == MAIN:
        control = connections.settings[DEFAULT_DB_ALIAS]
        return {(control["NAME"], each) for each in servers(control["HOST"], str(control["PORT"]))}
    where = destination(connection)
    return {(where.database, each) for each in where.servers}


class _Use(NamedTuple):
    """The use of a database by a data store, under an alias."""

    alias: str
    store: int
    tenant: int


class SharedDatabases:
    """Says which data stores of tenants have led this process to which databases."""

    def __init__(self, _using: str) -> None:
        self._identities: dict[str, str] = {}
        self._uses: dict[str, set[_Use]] = {}

    def check(self, alias: str, store: Store) -> None:
        """Raise ConnectionUnusable if a data store of another tenant, which was made before, has led to the database
        that the alias leads to, and still does."""
        if store.tenant is None or api_settings.TENANTS_SHARE_DATABASES:
            return
        found = self._identities.get(alias) or self._identified(alias)
        uses = self._uses.setdefault(found, set())
        uses.add(_Use(alias, store.id, store.tenant.id))
        if all(use.tenant == store.tenant.id for use in set(uses)):
            return
        served = {database.alias for database in routes().table().databases} | {DEFAULT_DB_ALIAS}
        oldest = min((use for use in set(uses) if use.alias in served), key=lambda use: use.store, default=None)
        if oldest is not None and oldest.tenant != store.tenant.id:
            raise ConnectionUnusable(
                f"it leads to the database of data store {oldest.store}, which is another tenant's"
            )

    def _identified(self, alias: str) -> str:
        try:
            return self._identities.setdefault(alias, identity(alias))
        except ProgrammingError:  # Its role may not ask.
            settings = connections.settings[alias]
            return self._identities.setdefault(alias, f"{settings['HOST']}:{settings['PORT']}/{settings['NAME']}")


def refuse_other_tenants_database(alias: str, store: Store) -> None:
    """Raise ConnectionUnusable if this process has met the database as that of another tenant."""
    database_state(DEFAULT_DB_ALIAS).value(SharedDatabases).check(alias, store)
