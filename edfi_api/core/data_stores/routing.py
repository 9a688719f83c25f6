"""Which of a client's data stores has the context of an address: an immutable table of all data stores. The context are
the segments before the fixed word that the rest of an address begins with.

Texts compare without regard to case.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Self

from edfi_api.core.data_stores.exceptions import AmbiguousDataStore, DataStoreNotFound
from edfi_api.core.data_stores.models import DerivativeType, State

# The qualifiers of a data store or of an address with their values, case-folded.
Context = frozenset[tuple[str, str]]
# The first segments of the paths that may follow a context; that of the data standard's version is added.
FIXED = frozenset(
    {
        "data", "metadata", "oauth", "changequeries", "relations", "batch", "bulk", "validation", "history",
        "submissions",
    }
)  # fmt: skip
# The first segments of paths without a context; those of the URL map are added.
OUTSIDE = frozenset(
    {"health", "metrics", "docs", "static", "management", "connect", "v2", "v3", "secret", ".well-known", "favicon.ico"}
)
# The URL map has these segments with some settings only: whoever turns something on must not find a tenant there.
OPTIONAL = frozenset({"admin", "batch", "bulk", "config", "guides"})


def context_of(pairs: Iterable[tuple[str, str]]) -> Context:
    """The context with these qualifiers and values, in any case."""
    return frozenset((key.casefold(), value.casefold()) for key, value in pairs)


@dataclass(frozen=True, slots=True)
class Database:
    """A database with documents: its alias in Django's settings, its encrypted connection string, and the data store
    that it belongs to."""

    alias: str
    data_store: int
    connection: str | None = field(repr=False)


@dataclass(frozen=True, slots=True)
class NamedTenant:
    """A tenant, as the routing table has it."""

    id: int
    name: str


@dataclass(frozen=True, slots=True)
class Store:
    """A data store, as it was when the table was built."""

    id: int
    tenant: NamedTenant | None
    name: str
    state: State
    context: Context
    # The values of the context by qualifier.
    context_as_written: Mapping[str, str]
    primary: Database
    derivatives: Mapping[DerivativeType, tuple[Database, ...]]

    @property
    def tenant_id(self) -> int | None:
        return None if self.tenant is None else self.tenant.id


def _ordered(values: Iterable[str]) -> tuple[str, ...]:
    """Years and the like in descending order; texts in ascending order, ignoring case."""
    given = list(values)
    if all(value.isdecimal() and value.isascii() for value in given):
        return tuple(sorted(given, key=int, reverse=True))
    return tuple(sorted(given, key=str.casefold))


@dataclass(frozen=True, slots=True)
class RoutingTable:
    """All data stores, by id and by tenant and context, and all tenants by case-folded name."""

    version: int
    tenants: Mapping[str, NamedTenant]
    stores: Mapping[int, Store]
    by_context: Mapping[tuple[int | None, Context], frozenset[int]]
    # Maps tenant and case-folded qualifier to the values that data stores have, each once, in the order of `_ordered`.
    values: Mapping[tuple[int | None, str], tuple[str, ...]]

    @classmethod
    def of(cls, version: int, stores: Iterable[Store], tenants: Iterable[NamedTenant] = ()) -> Self:
        by_id = {store.id: store for store in stores}
        by_context: dict[tuple[int | None, Context], set[int]] = defaultdict(set)
        values: dict[tuple[int | None, str], dict[str, str]] = defaultdict(dict)
        for store in by_id.values():
            tenant = store.tenant_id
            by_context[tenant, store.context].add(store.id)
            for key, value in store.context_as_written.items():
                values[tenant, key.casefold()].setdefault(value.casefold(), value)
        return cls(
            version,
            {tenant.name.casefold(): tenant for tenant in tenants},
            by_id,
            {key: frozenset(ids) for key, ids in by_context.items()},
            {key: _ordered(each.values()) for key, each in values.items()},
        )

    def find(self, ids: Collection[int], tenant: int | None, context: Context) -> Store:
        """The one among the data stores with these ids that has the tenant and exactly the context.

        Raises DataStoreNotFound and AmbiguousDataStore.
        """
        found = self.by_context.get((tenant, context), frozenset()).intersection(ids)
        if not found:
            raise DataStoreNotFound
        if len(found) > 1:
            raise AmbiguousDataStore
        return self.stores[next(iter(found))]

    @property
    def databases(self) -> Iterable[Database]:
        """The primary databases and their derivatives."""
        for store in self.stores.values():
            yield store.primary
            for derivatives in store.derivatives.values():
                yield from derivatives


@dataclass(frozen=True, slots=True)
class AddressForm:
    """The form in which addresses are read: at most `most` segments come before one of the `fixed` ones; `outside` have
    none. All words are case-folded."""

    most: int
    fixed: Collection[str]
    outside: Collection[str]

    def split(self, path: str) -> tuple[tuple[str, ...], str]:
        """The segments of the context, as they are written, and the path that follows them.

        A path of so few segments that all can belong to the context is that of the root. One with too many, or with one
        that no context has, has no context, so that it has no route either.
        """
        parts = path.removeprefix("/").split("/", self.most + 1)
        if not parts[0]:
            return (), path
        for number, part in enumerate(parts):
            if part.casefold() in self.fixed:
                return tuple(parts[:number]), "/" + "/".join(parts[number:]) if number else path
            if part.casefold() in self.outside:
                return (), path
        segments = parts if parts[-1] else parts[:-1]
        return (tuple(segments), "/") if len(segments) <= self.most else ((), path)


def has_encoded_separator(path: str, number: int) -> bool:
    """Return whether one of the first segments of a path that is not decoded yet contains a slash, which decoding would
    take for the end of the segment: a proxy that decides by segments would not see the same ones."""
    return any("%2f" in segment.lower() for segment in path.removeprefix("/").split("/", number)[:number])


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
