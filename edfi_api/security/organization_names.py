"""The names of education organizations, for people who see their ids on pages of applications and clients."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from django.db import DatabaseError, InterfaceError, connections

from edfi_api.conf import api_settings
from edfi_api.data_stores.access import MAIN_VISIT, Visit, visit
from edfi_api.data_stores.exceptions import ConnectionUnusable, DataStoreUnavailable, NotProvisioned
from edfi_api.data_stores.routes import routes

from .models import ApiClientDataStore, Application

# Each may take 2 seconds to connect.
MOST_DATA_STORES = 3
_NAMES = """
SELECT given.id, document.body ->> 'nameOfInstitution'
  FROM unnest(%s::bigint[]) AS given (id)
  JOIN organization_closure AS own ON own.ancestor_id = given.id AND own.descendant_id = given.id
  LEFT JOIN document ON document.hierarchy IS NOT NULL AND document.hierarchy[1] = given.id
"""
_UNUSABLE = (ConnectionUnusable, DataStoreUnavailable, NotProvisioned, DatabaseError, InterfaceError)


@dataclass(frozen=True)
class OrganizationNames:
    """Names by id, of those that are stored. Others do not exist if the names are complete; if they are not, a data
    store did not answer, or there are too many."""

    names: Mapping[int, str]
    is_complete: bool


def organization_names(ids: Sequence[int], data_stores: Sequence[int]) -> OrganizationNames:
    """The names in these data stores, the newest of them; without any in the control database, if clients may use it.
    One query for each."""
    names: dict[int, str] = {}
    is_complete = len(data_stores) <= MOST_DATA_STORES
    if not data_stores and not api_settings.has_main_store:
        return OrganizationNames(names, is_complete=False)
    stores: list[int | None] = [*sorted(data_stores, reverse=True)[:MOST_DATA_STORES]]
    for store in stores or [None]:
        try:
            with _visit(store) as visited, connections[visited.using].cursor() as cursor:
                cursor.execute(_NAMES, [list(ids)])
                names = {id_: name or "" for id_, name in cursor.fetchall()} | names
        except _UNUSABLE:
            if store is None:
                raise
            is_complete = False
    return OrganizationNames(names, is_complete)


def data_stores_of(application: Application) -> list[int]:
    """Those of all of its clients."""
    rows = ApiClientDataStore.objects.filter(api_client__application=application)
    return list(rows.order_by().values_list("data_store", flat=True).distinct())


def _visit(data_store: int | None) -> Visit:
    if data_store is None:
        return MAIN_VISIT
    store = routes().after_a_miss().stores.get(data_store)
    if store is None:
        raise NotProvisioned
    return visit(store, is_write=False, is_limited=False)
