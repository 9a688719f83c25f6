"""`check_data_stores`: what keeps data stores from being used, one line for each problem."""

from collections import defaultdict
from collections.abc import Iterator
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.db import DatabaseError, InterfaceError, connections

from edfi_api.common.conf import api_settings
from edfi_api.common.logs.printable import counted
from edfi_api.core.data_stores import provisioning_state
from edfi_api.core.data_stores.databases import alias_of
from edfi_api.core.data_stores.exceptions import ConnectionUnusable
from edfi_api.core.data_stores.provisioning_state import pending_migrations
from edfi_api.core.data_stores.routing import RoutingTable, Store, described
from edfi_api.core.data_stores.routing_cache import read_table
from edfi_api.core.data_stores.stores import identity, is_reserved
from edfi_api.core.security.models import ApiClient


class Command(BaseCommand):
    """See the module."""

    help = (
        "Lists tenants and contexts that no address has, clients for which an address is ambiguous, connection strings "
        "that cannot be used, databases that do not answer, lack migrations or are ahead, and two data stores in one "
        "database. The exit status is 1 if there is anything."
    )

    def handle(self, *args: Any, **options: Any) -> None:
        table = read_table()
        problems = [*_reserved(table), *_contexts(table), *_clients(table), *_databases(table), *_derivatives(table)]
        for problem in problems:
            self.stdout.write(problem)
        if problems:
            raise CommandError(counted(len(problems), "problem"))
        self.stdout.write(f"{counted(len(table.stores), 'data store')} can be used")


def _reserved(table: RoutingTable) -> Iterator[str]:
    for tenant in table.tenants.values():
        if is_reserved(tenant.name):
            yield f"tenant {tenant.name}: no address leads to it; '{tenant.name}' is the beginning of other addresses"
    for store in table.stores.values():
        for value in filter(is_reserved, store.context_as_written.values()):
            yield f"{described(store)}: no address leads to it; '{value}' is the beginning of other addresses"


def _contexts(table: RoutingTable) -> Iterator[str]:
    qualifiers = {name.casefold() for name in api_settings.ROUTE_QUALIFIERS}
    for store in table.stores.values():
        if {key for key, _ in store.context} != qualifiers:
            names = ", ".join(api_settings.ROUTE_QUALIFIERS) or "none"
            yield f"{described(store)}: no address leads to it; the route qualifiers are: {names}"
        if (store.tenant is not None) is not api_settings.MULTI_TENANCY:
            reason = "has no tenant" if store.tenant is None else "has a tenant, and MEADOWLARK_MULTI_TENANCY is off"
            yield f"{described(store)}: no address leads to it; it {reason}"


def _clients(table: RoutingTable) -> Iterator[str]:
    clients = ApiClient.objects.filter(data_stores__isnull=False).distinct().prefetch_related("data_stores")
    for client in clients.iterator(chunk_size=500):
        by_context: dict[object, list[Store]] = defaultdict(list)
        for row in client.data_stores.all():
            store = table.stores.get(row.pk)
            if store is not None:
                by_context[store.tenant_id, store.context].append(store)
        for stores in by_context.values():
            if len(stores) > 1:
                yield f"{client.name}: an address is ambiguous between {', '.join(map(described, stores))}"


def _derivatives(table: RoutingTable) -> Iterator[str]:
    for store in table.stores.values():
        for type_, databases in store.derivatives.items():
            for database in databases:
                try:
                    with connections[alias_of(database)].cursor() as cursor:
                        cursor.execute("SELECT 1")
                except ConnectionUnusable as error:
                    yield f"{described(store)}: the connection string of a {type_} cannot be used: {error.reason}"
                except (DatabaseError, InterfaceError) as error:
                    yield f"{described(store)}: a {type_} does not answer: {' '.join(str(error).split())}"


def _databases(table: RoutingTable) -> Iterator[str]:
    seen: dict[str, Store] = {}
    for store in table.stores.values():
        try:
            using = alias_of(store.primary)
            own = identity(using)
            if pending := pending_migrations(using):
                yield f"{described(store)}: {len(pending)} pending migrations: migrate_data_stores"
            if unknown := provisioning_state.unknown(using):
                yield f"{described(store)}: a newer version has migrated it ({', '.join(unknown)})"
        except ConnectionUnusable as error:
            yield f"{described(store)}: its connection string cannot be used: {error.reason}"
            continue
        except (DatabaseError, InterfaceError) as error:
            yield f"{described(store)}: does not answer: {' '.join(str(error).split())}"
            continue
        if own in seen and not _may_share(store, seen[own]):
            yield f"{described(store)}: its database is that of {described(seen[own])} too"
        seen.setdefault(own, store)


def _may_share(one: Store, other: Store) -> bool:
    return one.tenant_id != other.tenant_id and bool(api_settings.TENANTS_SHARE_DATABASES)
