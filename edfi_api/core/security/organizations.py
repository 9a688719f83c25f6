"""Education organizations of clients: the hierarchy that token introspection lists
(meadowlark/docs/design/authorization.md#token-introspection), and names for people who see ids on pages of the admin.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from django.db import DatabaseError, InterfaceError, connections

from edfi_api.common.conf import api_settings
from edfi_api.core.data_stores.access import DEFAULT_LEASE, Lease, lease
from edfi_api.core.data_stores.exceptions import ConnectionUnusable, DataStoreUnavailable, NotProvisioned
from edfi_api.core.data_stores.routing_cache import routing_cache
from edfi_api.core.queries.name_index import organization_name
from edfi_api.core.security.models import ApiClientDataStore, Application
from edfi_api.core.storage import resource_types
from edfi_api.core.storage.driver.sql import Sql
from edfi_api.model.surface.resource import ResourceName, Surface

# The claimed organizations and their descendants, with all ancestors of these.
_FAMILY = Sql("""
WITH reachable AS (
    SELECT DISTINCT descendant_id AS id FROM organization_closure WHERE ancestor_id = ANY (%s)
), family AS (
    SELECT DISTINCT ancestor_id AS id FROM organization_closure JOIN reachable ON reachable.id = descendant_id
)
SELECT family.id, document.resource_type_id, {name}, document.hierarchy[2:],
       family.id IN (SELECT id FROM reachable)
FROM family JOIN document ON document.hierarchy IS NOT NULL AND document.hierarchy[1] = family.id
ORDER BY family.id
""")
_WORD = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")


@dataclass(frozen=True)
class _Organization:
    type: ResourceName
    name: str | None
    parents: tuple[int, ...]
    is_reachable: bool


def reachable_organizations(claimed: Sequence[int], surface: Surface, using: str) -> list[dict[str, object]]:
    """Return the organizations that a client reaches, in order of their ids. A claimed one that is not stored yet has
    only its id.
    """
    family = _family(claimed, using)
    listed = sorted({id_ for id_, each in family.items() if each.is_reachable} | set(claimed))
    return [_described(id_, family, surface) for id_ in listed]


def undescribed_organizations(claimed: Sequence[int]) -> list[dict[str, object]]:
    """The ids of the claimed ones alone, where no database is known to have more."""
    return [{"education_organization_id": id_} for id_ in sorted(set(claimed))]


def _family(claimed: Sequence[int], using: str) -> dict[int, _Organization]:
    names = resource_types.names(using)
    with connections[using].cursor() as cursor:
        cursor.execute(_with_name(_FAMILY), [list(claimed)])
        return {
            id_: _Organization(names[type_], name, tuple(parents or ()), is_reachable)
            for id_, type_, name, parents, is_reachable in cursor.fetchall()
        }


def _with_name(statement: Sql) -> str:
    return statement.fill(name=organization_name("document.body")).text


def _described(id_: int, family: dict[int, _Organization], surface: Surface) -> dict[str, object]:
    described: dict[str, object] = {"education_organization_id": id_}
    if id_ not in family:
        return described
    own = family[id_]
    described |= {"name_of_institution": own.name, "type": _type(own.type, surface)}
    for above in _upwards(id_, family):
        # The nearest of each type: a local education agency can be part of another one.
        described.setdefault(f"{_WORD.sub('_', family[above].type.resource).lower()}_id", above)
    return described


def _upwards(id_: int, family: dict[int, _Organization]) -> Iterator[int]:
    """The organization itself, then its ancestors, the nearest first."""
    waiting, seen = [id_], {id_}
    for each in waiting:
        yield each
        new = [parent for parent in family[each].parents if parent in family and parent not in seen]
        waiting += new
        seen.update(new)


def _type(name: ResourceName, surface: Surface) -> str:
    resource = surface.by_name.get(name)
    project = resource.project_endpoint if resource else name.project.lower()
    return f"{project.replace('-', '')}.{name.resource}"


# Each may take 2 seconds to connect.
MOST_DATA_STORES = 3
_NAMES = Sql("""
SELECT given.id, {name}
  FROM unnest(%s::bigint[]) AS given (id)
  JOIN organization_closure AS own ON own.ancestor_id = given.id AND own.descendant_id = given.id
  LEFT JOIN document ON document.hierarchy IS NOT NULL AND document.hierarchy[1] = given.id
""")
_MOST_NAMED = 50
# Every organization has a row for itself.
_NAMED = Sql("""
SELECT own.ancestor_id, {name}
  FROM organization_closure AS own
  JOIN document ON document.hierarchy IS NOT NULL AND document.hierarchy[1] = own.ancestor_id
 WHERE own.descendant_id = own.ancestor_id
   AND strpos(lower({name}), lower(%(name)s)) > 0
 ORDER BY lower({name}) <> lower(%(name)s), own.ancestor_id LIMIT %(most)s
""")
_UNUSABLE = (ConnectionUnusable, DataStoreUnavailable, NotProvisioned, DatabaseError, InterfaceError)


@dataclass(frozen=True)
class OrganizationNames:
    """Names by id, of those that are stored. Others do not exist if the names are complete; if they are not, a data
    store did not answer, or there are too many."""

    names: Mapping[int, str]
    is_complete: bool


def organization_names(ids: Sequence[int], data_stores: Sequence[int]) -> OrganizationNames:
    """The names in these data stores, the newest of them; without any in the admin database, if clients may use it.
    One query for each."""
    names: dict[int, str] = {}
    is_complete = len(data_stores) <= MOST_DATA_STORES
    if not data_stores and not api_settings.has_main_store:
        return OrganizationNames(names, is_complete=False)
    stores: list[int | None] = [*sorted(data_stores, reverse=True)[:MOST_DATA_STORES]]
    for store in stores or [None]:
        try:
            with _lease(store) as leased:
                names = names_in(ids, leased.using) | names
        except _UNUSABLE:
            if store is None:
                raise
            is_complete = False
    return OrganizationNames(names, is_complete)


def names_in(ids: Iterable[int], using: str) -> dict[int, str]:
    """The names by id of those that are stored in this database."""
    with connections[using].cursor() as cursor:
        cursor.execute(_with_name(_NAMES), [list(ids)])
        return {id_: name or "" for id_, name in cursor}


def organizations_named(name: str, data_stores: Sequence[int]) -> dict[int, str]:
    """Names by id of the organizations in the same data stores as `organization_names`: those of this name in any case,
    else those with it in their names."""
    if not data_stores and not api_settings.has_main_store:
        return {}
    stores: list[int | None] = [*sorted(data_stores, reverse=True)[:MOST_DATA_STORES]]
    found: dict[int, str] = {}
    for store in stores or [None]:
        try:
            with _lease(store) as leased, connections[leased.using].cursor() as cursor:
                found |= dict(cursor.execute(_with_name(_NAMED), {"name": name, "most": _MOST_NAMED}))
        except _UNUSABLE:
            if store is None:
                raise
    same = {id_: each for id_, each in found.items() if each.casefold() == name.casefold()}
    return same or found


def data_stores_of(application: Application) -> list[int]:
    """Return the ids of the data stores of all of its clients."""
    rows = ApiClientDataStore.objects.filter(api_client__application=application)
    return list(rows.order_by().values_list("data_store", flat=True).distinct())


def _lease(data_store: int | None) -> Lease:
    if data_store is None:
        return DEFAULT_LEASE
    store = routing_cache().table_after_miss().stores.get(data_store)
    if store is None:
        raise NotProvisioned
    return lease(store, is_write=False, is_limited=False)
