"""Lookup of the API client, the application, and the data stores that arguments of a command name."""

from collections.abc import Sequence

from django.core.management.base import CommandError
from django.db.models import QuerySet

from edfi_api.core.data_stores.models import Tenant
from edfi_api.core.data_stores.routing import NoSuchDataStore, Store, described, stores_named
from edfi_api.core.data_stores.routing_cache import read_table
from edfi_api.core.security.models import ApiClient, Application


def client_named(text: str) -> ApiClient:
    """The client with this key or name; a key takes precedence."""
    found = ApiClient.objects.filter(client_id=text).first() or the_only(ApiClient.objects.filter(name=text), text)
    if found is None:
        raise CommandError(f'There is no API client with the name or key "{text}".')
    return found


def the_only(clients: QuerySet[ApiClient], name: str) -> ApiClient | None:
    """The client among those of a name; None without any. Several are listed by their keys in a CommandError."""
    found = list(clients.select_related("application__vendor").order_by("pk"))
    if len(found) > 1:
        keys = ", ".join(f"{each.client_id} (of {each.application} by {each.application.vendor})" for each in found)
        raise CommandError(f'Several API clients have the name "{name}"; say which by its key: {keys}.')
    return found[0] if found else None


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
