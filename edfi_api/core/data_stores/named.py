"""Data stores as the arguments of commands name them: by id, by name, or by a part of their context. Where there
are tenants, their name comes first: `lakeside/2027`, or `lakeside/` for all of its data stores."""

from collections.abc import Iterable

from edfi_api.core.data_stores.routing import RoutingTable, Store, context_of


class NoSuchDataStore(Exception):
    """An argument names no data store, or a name that several have."""


def stores_named(names: Iterable[str], table: RoutingTable) -> list[Store]:
    """The data stores of all arguments, each once. Raises NoSuchDataStore."""
    found = {store.id: store for name in names for store in _named(name, table)}
    return list(found.values())


def store_named(name: str, table: RoutingTable) -> Store:
    """The only one of an argument. Raises NoSuchDataStore."""
    found = _named(name, table)
    if len(found) > 1:
        raise NoSuchDataStore(f'"{name}" is the context of several data stores: {_listed(found)}.')
    return found[0]


def described(store: Store) -> str:
    """`7 lakeside (districtId=4410,schoolYear=2027)`, with the tenant before the name."""
    context = ",".join(f"{key}={value}" for key, value in sorted(store.context_as_written.items()))
    return f"{store.id} {full_name(store)}" + (f" ({context})" if context else "")


def full_name(store: Store) -> str:
    """`tenant/name`, or only the name without tenants."""
    return store.name if store.tenant is None else f"{store.tenant.name}/{store.name}"


def _named(name: str, table: RoutingTable) -> list[Store]:
    if name.isascii() and name.isdecimal() and int(name) in table.stores:
        return [table.stores[int(name)]]
    candidates, rest = _of_tenant(name, table)
    if "=" in rest:
        wanted = context_of(pair.partition("=")[::2] for pair in rest.split(","))
        found = [store for store in candidates if wanted <= store.context]
    elif not rest:
        found = candidates
    else:
        found = [store for store in candidates if store.name.casefold() == rest.casefold()]
        if len(found) > 1:
            raise NoSuchDataStore(f'The name "{name}" is that of several data stores: {_listed(found)}.')
    if not found:
        there_are = _listed(table.stores.values()) or "none"
        raise NoSuchDataStore(f'There is no data store "{name}"; there are: {there_are}.')
    return found


def _of_tenant(name: str, table: RoutingTable) -> tuple[list[Store], str]:
    """The data stores of the tenant that the argument begins with, or all, and the rest of the argument."""
    before, slash, rest = name.partition("/")
    tenant = table.tenants.get(before.casefold())
    if not slash or tenant is None:
        return list(table.stores.values()), name
    return [store for store in table.stores.values() if store.tenant_id == tenant.id], rest


_MOST_LISTED = 20


def _listed(stores: Iterable[Store]) -> str:
    shown = [described(store) for store in stores]
    more = f" and {len(shown) - _MOST_LISTED} more" if len(shown) > _MOST_LISTED else ""
    return ", ".join(shown[:_MOST_LISTED]) + more
