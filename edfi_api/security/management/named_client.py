"""Lookup of the API client, the application, and the data stores that arguments of a command name."""

from collections.abc import Sequence

from django.core.management.base import CommandError
from django.db.models import Q

from edfi_api.data_stores.models import Tenant
from edfi_api.data_stores.named import NoSuchDataStore, described, stores_named
from edfi_api.data_stores.routes import read_table
from edfi_api.data_stores.routing import Store
from edfi_api.security.models import ApiClient, Application


def client_named(text: str) -> ApiClient:
    """The client with this key or name; a key takes precedence."""
    found = ApiClient.objects.filter(Q(client_id=text) | Q(name=text))
    if not found:
        raise CommandError(f'There is no API client with the name or key "{text}".')
    best: ApiClient = min(found, key=lambda client: client.client_id != text)
    return best


def application_named(name: str, tenant: Tenant | None) -> Application:
    """The only application of this name, of the tenant if there is one. Raises CommandError."""
    of_this_name = Application.objects.filter(name=name).select_related("claim_set", "vendor__tenant")
    found = list((of_this_name if tenant is None else of_this_name.filter(vendor__tenant=tenant))[:2])
    if len(found) != 1:
        how_many = "more than one application" if found else "no application"
        raise CommandError(f'There is {how_many} "{name}".')
    return found[0]


def stores_of_tenant(names: Sequence[str], tenant_id: int | None) -> list[Store]:
    """The data stores of these arguments. Raises NoSuchDataStore, also for those of another tenant."""
    stores = stores_named(names, read_table()) if names else []
    if others := [described(store) for store in stores if store.tenant_id != tenant_id]:
        raise NoSuchDataStore(f"These are not data stores of the client's tenant: {', '.join(others)}.")
    return stores
