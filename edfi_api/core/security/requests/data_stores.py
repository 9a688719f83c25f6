"""Client and address → the database that answers. See meadowlark/docs/operate/data-stores.md#which-store-answers."""

from collections.abc import Iterator, Sequence

from rest_framework.request import Request

from edfi_api.common.addresses import context_segments
from edfi_api.common.conf import api_settings
from edfi_api.core.data_stores.access import DEFAULT_LEASE, Lease, lease, lease_snapshot
from edfi_api.core.data_stores.exceptions import DataStoreNotFound, NoDataStores, NoSnapshots, SnapshotReadOnly
from edfi_api.core.data_stores.routing import RoutingTable, Store, context_of
from edfi_api.core.data_stores.routing_cache import routing_cache
from edfi_api.core.security.authenticated_client import AuthenticatedClient
from edfi_api.core.security.exceptions import AuthenticationFailed
from edfi_api.core.security.requests.authentication import looked_up_again

# The header by which a client requests the data of a snapshot, as WSGI names it.
USE_SNAPSHOT = "HTTP_USE_SNAPSHOT"


def lease_of(client: AuthenticatedClient, request: Request, *, is_write: bool) -> Lease:
    """The lease of a request of the client to the database that its address leads to. Sets `request.data_store`, the
    id, for logs and metrics.

    Raises the exceptions of `data_stores`: of finding the data store, then of using it.
    """
    if not client.uses_data_stores and api_settings.has_main_store:
        return _lease_default(request, is_write=is_write)
    store = _store(client, str(request.auth), context_segments(request._request))
    return _lease(store, request, is_write=is_write)


def lease_for_token_info(client: AuthenticatedClient, request: Request) -> Lease | None:
    """Return the lease of a request for token information, where the address of a client with one data store may leave
    out its context; None if it does and the client has several.
    """
    segments = context_segments(request._request)
    if len(segments) > api_settings.MULTI_TENANCY or not client.data_store_ids:
        return lease_of(client, request, is_write=False)
    _check_tenant(client, segments)
    stores = routing_cache().table(client.data_stores_version).stores
    found = [stores[id_] for id_ in client.data_store_ids if id_ in stores]
    return _lease(found[0], request, is_write=False) if len(found) == 1 else None


def leases_of(client: AuthenticatedClient, request: Request) -> Iterator[tuple[int, Lease]]:
    """Leases that only read, with the ids of their data stores: to the one that the address leads to, or, if it has no
    context, to each of the client's. The id is 0 for the admin database.

    Raises what `lease_of` raises.
    """
    if data_store_in_address(client, request) is not None or not client.data_store_ids:
        leased = lease_of(client, request, is_write=False)
        yield vars(request._request).get("data_store", 0), leased
        return
    stores = routing_cache().table(client.data_stores_version).stores
    for id_ in client.data_store_ids:
        if id_ in stores:
            yield id_, _lease(stores[id_], request, is_write=False)


def data_store_in_address(client: AuthenticatedClient, request: Request) -> int | None:
    """The id of the data store that the address leads to, whether or not its database can be used; None if the
    address has no context, or the client uses the admin database.

    Raises DataStoreNotFound, NoDataStores and AuthenticationFailed.
    """
    segments = context_segments(request._request)
    if len(segments) <= api_settings.MULTI_TENANCY:
        _check_tenant(client, segments)
        return None
    return _store(client, str(request.auth), segments).id


def _lease_default(request: Request, *, is_write: bool) -> Lease:
    """A client that requests a snapshot must not take live data for it, nor write them."""
    if not _wants_snapshot(request):
        return DEFAULT_LEASE
    raise SnapshotReadOnly if is_write else NoSnapshots


def _lease(store: Store, request: Request, *, is_write: bool) -> Lease:
    request._request.data_store = store.id  # type: ignore[attr-defined]  # for logs and metrics
    # Requests for other databases, if there are any, may have to wait for threads.
    is_limited = api_settings.has_main_store or len(routing_cache().table().stores) > 1
    begin = lease_snapshot if _wants_snapshot(request) else lease
    return begin(store, is_write=is_write, is_limited=is_limited)


def _wants_snapshot(request: Request) -> bool:
    return str(request.META.get(USE_SNAPSHOT, "")).strip().lower() == "true"


def _store(client: AuthenticatedClient, token: str, segments: Sequence[str]) -> Store:
    try:
        return _find(routing_cache().table(client.data_stores_version), client, segments)
    except (NoDataStores, DataStoreNotFound):
        newest = routing_cache().table_after_miss()
        if newest.version == client.data_stores_version:
            raise
    again = looked_up_again(token)
    if again is None:
        raise AuthenticationFailed("Invalid token")
    return _find(routing_cache().table(again.data_stores_version), again, segments)


def _find(table: RoutingTable, client: AuthenticatedClient, segments: Sequence[str]) -> Store:
    if not client.data_store_ids:
        raise NoDataStores
    values = _check_tenant(client, segments)
    qualifiers = api_settings.ROUTE_QUALIFIERS
    if len(values) != len(qualifiers):
        raise DataStoreNotFound
    return table.find(client.data_store_ids, client.tenant_id, context_of(zip(qualifiers, values, strict=True)))


def _check_tenant(client: AuthenticatedClient, segments: Sequence[str]) -> Sequence[str]:
    """The segments after the tenant's. Raises DataStoreNotFound unless the address has the client's tenant; for a
    client with a tenant on a server without tenants too."""
    if not api_settings.MULTI_TENANCY:
        if client.tenant is not None:
            raise DataStoreNotFound
        return segments
    if client.tenant is None or not segments or segments[0].casefold() != client.tenant.casefold():
        raise DataStoreNotFound
    return segments[1:]
