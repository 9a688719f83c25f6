"""`v3/dataStoreContexts` and `v3/dataStoreDerivatives`."""

from typing import Any, ClassVar

from django.core.exceptions import ValidationError
from django.db.models import QuerySet
from rest_framework.response import Response

from edfi_api.data_stores.models import DataStore, DataStoreContext, DataStoreDerivative, DerivativeType
from edfi_api.data_stores.stores import check_segment, encrypted_connection

from .. import problems
from ..collections import ID, Collection, id_member
from ..constraints import written
from ..listing import Listing
from ..masking import LONGEST, UNCHANGED, changed_connection, masked, storing_connections
from ..members import NOT_EMPTY, POSITIVE, Kind, Member, Shape, at_most, is_empty, name, says

_TYPES = list(DerivativeType.values)
_RULES_OF_TYPE = (
    says("DerivativeType is required.", is_empty),
    at_most(50, "DerivativeType must be 50 characters or fewer."),
    says("DerivativeType must be either 'ReadReplica' or 'Snapshot'.", lambda value: value not in _TYPES),
)
_RULES_OF_CONNECTION = (at_most(LONGEST, f"ConnectionString must be {LONGEST} characters or fewer."),)


class DataStoreContexts(Collection):
    """The values of qualifiers that belong to a data store."""

    address = "dataStoreContexts"
    noun = "data store context"
    missing = "Data store context not found"
    metadata_actions = frozenset({"list", "retrieve"})
    shape: ClassVar[Shape] = (
        Member("dataStoreId", Kind.INTEGER, (NOT_EMPTY, POSITIVE)),
        name("contextKey", 256),
        name("contextValue", 256),
    )
    shape_of_put: ClassVar[Shape] = (ID, *shape)
    listing = Listing(order={"id": "pk", "dataStoreId": "data_store_id", "contextKey": "key", "contextValue": "value"})

    def rows(self) -> QuerySet[DataStoreContext]:
        return DataStoreContext.objects.filter(data_store__tenant=self.tenant)

    def represent(self, row: DataStoreContext) -> dict[str, Any]:
        return {
            "id": row.pk,
            "dataStoreId": row.data_store_id,
            "contextKey": row.key,
            "contextValue": row.value,
        }

    def add(self, values: dict[str, Any]) -> Response:
        row = DataStoreContext()
        self.change(row, values)
        return self.created(row, {"id": row.pk})

    def change(self, row: DataStoreContext, values: dict[str, Any]) -> None:
        try:
            check_segment(values["contextValue"])
        except ValidationError as error:
            raise problems.invalid_data({"ContextValue": error.messages}) from None
        store, key = values["dataStoreId"], values["contextKey"]
        if not DataStore.objects.filter(tenant=self.tenant, pk=store).exists():
            raise problems.unresolved_reference("Reference 'DataStoreId' does not exist.")
        row.data_store_id, row.key, row.value = store, key, values["contextValue"]
        with written({"context_once_per_qualifier": self.taken(values)}):
            row.save()

    def taken(self, values: dict[str, Any]) -> problems.Refusal:
        """The refusal of a key that the data store has already."""
        text = (
            f"Data store context with DataStoreId '{values['dataStoreId']}' and ContextKey '{values['contextKey']}' "
            "already exists."
        )
        return problems.invalid_data({"ContextKey": [text]})


class DataStoreDerivatives(Collection):
    """Other databases with the data of a data store."""

    address = "dataStoreDerivatives"
    noun = "data store derivative"
    missing = "DataStoreDerivative {id} not found. It may have been recently deleted."
    metadata_actions = frozenset({"list", "retrieve"})
    shape: ClassVar[Shape] = (
        Member("dataStoreId", Kind.INTEGER, (says("DataStoreId must be greater than 0.", lambda id_: id_ <= 0),)),
        Member("derivativeType", rules=_RULES_OF_TYPE),
        Member("connectionString", rules=_RULES_OF_CONNECTION),
    )
    shape_of_put: ClassVar[Shape] = (
        id_member("Id must be greater than 0."),
        *shape[:2],
        Member("connectionString", rules=_RULES_OF_CONNECTION, absent=UNCHANGED),
    )
    listing = Listing(order={"id": "pk", "dataStoreId": "data_store_id", "derivativeType": "type"})

    def rows(self) -> QuerySet[DataStoreDerivative]:
        return DataStoreDerivative.objects.filter(data_store__tenant=self.tenant)

    def represent(self, row: DataStoreDerivative) -> dict[str, Any]:
        return {
            "id": row.pk,
            "dataStoreId": row.data_store_id,
            "derivativeType": row.type,
            "connectionString": masked(row.connection),
        }

    def compared(self, row: DataStoreDerivative) -> dict[str, Any]:
        return self.item(row) | {"connectionString": row.connection}

    def add(self, values: dict[str, Any]) -> Response:
        row = DataStoreDerivative()
        self.change(row, values)
        title = f"New DataStoreDerivative of type {row.type} has been created successfully."
        return self.created(row, {"id": row.pk, "status": 201, "title": title})

    def change(self, row: DataStoreDerivative, values: dict[str, Any]) -> None:
        if not DataStore.objects.filter(tenant=self.tenant, pk=values["dataStoreId"]).exists():
            raise problems.unresolved_reference("The specified DataStore does not exist.")
        row.data_store_id, row.type = values["dataStoreId"], values["derivativeType"]
        is_new, connection = changed_connection(row.connection, values["connectionString"])
        if is_new:
            with storing_connections():
                row.connection = encrypted_connection(connection)
        row.save()
