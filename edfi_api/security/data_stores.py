"""Client and address → the database that answers. See meadowlark/docs/data-stores.md#which-store-answers."""

from collections.abc import Sequence

from django.db import DEFAULT_DB_ALIAS

from edfi_api.conf import api_settings
from edfi_api.data_stores.access import usable
from edfi_api.data_stores.exceptions import DataStoreNotFound, NoDataStores
from edfi_api.data_stores.routes import routes
from edfi_api.data_stores.routing import RoutingTable, Store, context_of

from .exceptions import AuthenticationFailed
from .tokens import AuthenticatedClient, looked_up_again


def database_of(client: AuthenticatedClient, token: str, segments: Sequence[str], *, is_write: bool) -> str:
    """The alias of the database for a request of the client, with these context segments in its address.

    Raises the exceptions of `data_stores`: of finding the data store, then of using it.
    """
    if not client.data_store_ids and api_settings.has_main_store:
        return DEFAULT_DB_ALIAS
    return usable(_store(client, token, segments), is_write=is_write)


def database_of_the_only_store(client: AuthenticatedClient) -> str | None:
    """The database of the client's data store, whatever its context; None if the client has several."""
    stores = routes().table(client.data_stores_version).stores
    found = [stores[id_] for id_ in client.data_store_ids if id_ in stores]
    return usable(found[0], is_write=False) if len(found) == 1 else None


def _store(client: AuthenticatedClient, token: str, segments: Sequence[str]) -> Store:
    try:
        return _find(routes().table(client.data_stores_version), client, segments)
    except (NoDataStores, DataStoreNotFound):
        newest = routes().after_a_miss()
        if newest.version == client.data_stores_version:
            raise
    again = looked_up_again(token)
    if again is None:
        raise AuthenticationFailed("Invalid token")
    return _find(routes().table(again.data_stores_version), again, segments)


def _find(table: RoutingTable, client: AuthenticatedClient, segments: Sequence[str]) -> Store:
    if not client.data_store_ids:
        raise NoDataStores
    qualifiers = api_settings.ROUTE_QUALIFIERS
    if len(segments) != len(qualifiers):
        raise DataStoreNotFound
    return table.find(client.data_store_ids, None, context_of(zip(qualifiers, segments, strict=True)))
