"""`v3/dataStores`, with their contexts and derivatives in the answers."""

from typing import Any, ClassVar

from django.contrib.postgres.expressions import ArraySubquery
from django.db.models import OuterRef, QuerySet
from django.db.models.functions import JSONObject
from rest_framework.request import Request
from rest_framework.response import Response

from edfi_api.data_stores.models import DataStore, DataStoreContext, DataStoreDerivative, State
from edfi_api.data_stores.routes import primary_of
from edfi_api.data_stores.status import is_refused, status_of
from edfi_api.data_stores.stores import create_data_store, remove_data_store, set_connection, set_state

from ..bodies import integer, read_values
from ..collections import ID, Collection
from ..listing import Listing, exactly, number
from ..masking import LONGEST, UNCHANGED, changed_connection, masked, storing_connections
from ..members import Kind, Member, Shape, at_most, name, says

NO_STORE = "DataStore {id} not found. It may have been recently deleted."
_CONNECTION = Member("connectionString", rules=(at_most(LONGEST),))
_STATES = f"State must be one of: {', '.join(State.values)}."


def contexts_of_store() -> ArraySubquery:
    """Contexts of a row of data stores, in the order of their keys."""
    rows = DataStoreContext.objects.filter(data_store=OuterRef("pk")).order_by("key", "pk")
    members = JSONObject(id="pk", dataStoreId="data_store_id", contextKey="key", contextValue="value")
    return ArraySubquery(rows.values(item=members))


def derivatives_of_store() -> ArraySubquery:
    """Derivatives of a row of data stores, with encrypted connection strings."""
    rows = DataStoreDerivative.objects.filter(data_store=OuterRef("pk")).order_by("pk")
    members = JSONObject(id="pk", dataStoreId="data_store_id", derivativeType="type", connectionString="connection")
    return ArraySubquery(rows.values(item=members))


class DataStores(Collection):
    """Data stores. One that is made here can be used as soon as its database has tables."""

    address = "dataStores"
    noun = "data store"
    missing = NO_STORE
    metadata_actions = frozenset({"list", "retrieve"})
    shape: ClassVar[Shape] = (name("dataStoreType", 50), name("name", 256), _CONNECTION)
    shape_of_put: ClassVar[Shape] = (
        ID,
        *shape[:2],
        Member("connectionString", rules=(at_most(LONGEST),), absent=UNCHANGED),
    )
    shape_of_state: ClassVar[Shape] = (
        Member("state", rules=(says(_STATES, lambda value: value not in State.values),)),
    )
    listing = Listing(
        order={"id": "pk", "name": "name", "dataStoreType": "type"},
        filters={"id": number("pk"), "name": exactly("name"), "dataStoreType": exactly("type")},
    )

    answered = (
        Member("dataStoreContexts", Kind.OBJECTS),
        Member("dataStoreDerivatives", Kind.OBJECTS),
        Member("state"),
        Member("tenantId", Kind.INTEGER),
    )

    def rows(self) -> QuerySet[DataStore]:
        return DataStore.objects.filter(tenant=self.tenant).annotate(
            shown_contexts=contexts_of_store(), shown_derivatives=derivatives_of_store()
        )

    def represent(self, row: Any) -> dict[str, Any]:
        derivatives = [each | {"connectionString": masked(each["connectionString"])} for each in row.shown_derivatives]
        return {
            "id": row.pk,
            "dataStoreType": row.type,
            "name": row.name,
            "connectionString": masked(row.connection),
            "dataStoreContexts": row.shown_contexts,
            "dataStoreDerivatives": derivatives,
            "state": row.state,
            **({"tenantId": row.tenant_id} if self.tenant else {}),
        }

    def compared(self, row: Any) -> dict[str, Any]:
        return self.item(row) | {"connectionString": row.connection}

    def add(self, values: dict[str, Any]) -> Response:
        with storing_connections():
            row = create_data_store(
                values["name"],
                type=values["dataStoreType"],
                connection=values["connectionString"] or None,
                state=State.ONLINE,
                tenant=self.tenant,
                by=self.by,
            )
        title = f"New DataStore {row.name} has been created successfully."
        return self.created(row, {"id": row.pk, "status": 201, "title": title})

    def change(self, row: DataStore, values: dict[str, Any]) -> None:
        row.name, row.type = values["name"], values["dataStoreType"]
        row.save(update_fields=["name", "type"])
        is_new, connection = changed_connection(row.connection, values["connectionString"])
        if is_new:
            with storing_connections():
                set_connection(row, connection, by=self.by)

    def remove(self, row: DataStore) -> None:
        """Its database stays."""
        remove_data_store(row, by=self.by)

    def status(self, request: Request, id: str) -> Response:
        """`GET dataStores/{id}/status`: what its database answers, and whether this process refuses its requests."""
        row = self.found(id)
        database = primary_of(row)
        status = status_of(database)
        return Response(
            {
                "id": row.pk,
                "state": row.state,
                "answers": status.answers,
                "pendingMigrations": status.pending_migrations,
                "size": status.size,
                "reason": status.reason,
                "breaker": "open" if is_refused(database) else "closed",
            }
        )

    def state(self, request: Request, id: str) -> Response:
        """`PUT dataStores/{id}/state`"""
        number_ = integer(id)
        values = read_values(request._request, self.shape_of_state)
        with self.written():
            set_state(self.found(number_, for_update=True), State(values["state"]), by=self.by)
        return self.changed()
