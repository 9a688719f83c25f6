"""Data stores, contexts and derivatives as ODS instances of Admin API 2. Connection strings are never answered."""

from dataclasses import replace
from typing import Any

from django.db.models import Q
from rest_framework.response import Response

from edfi_api.data_stores.connection_strings import LONGEST, MAIN, destination
from edfi_api.data_stores.exceptions import ConnectionUnusable
from edfi_api.data_stores.models import DataStore, DataStoreContext, DataStoreDerivative

from .. import problems
from ..listing import Listing, exactly, number
from ..masking import UNCHANGED
from ..members import NOT_EMPTY, POSITIVE, Kind, Member, at_most, is_empty, name, says
from ..v3.data_store_parts import DataStoreContexts, DataStoreDerivatives
from ..v3.data_stores import DataStores
from .collections import DEFAULT_LIMIT, Version2, missing_text, no_instances

_TAKEN = "An Ods Instance with this name already exists in the database. Please enter a unique name."


def _is_no_connection(text: str | None) -> bool:
    if is_empty(text) or text is None or text in (UNCHANGED, MAIN):
        return False
    try:
        destination(text)
    except ConnectionUnusable:
        return True
    return False


_VALID = says("The connection string is not valid.", _is_no_connection)
_INSTANCE = Member("odsInstanceId", Kind.INTEGER, (POSITIVE,))


class OdsInstances(Version2, DataStores):
    """Data stores whose names are unique, among those that are made here."""

    address = "odsInstances"
    title = "Ods Instance"
    missing = missing_text("odsInstance")
    shape = (
        name("name", 100),
        name("instanceType", 50),
        Member("connectionString", rules=(NOT_EMPTY, at_most(LONGEST), _VALID)),
    )
    shape_of_put = (*shape[:2], Member("connectionString", rules=(at_most(LONGEST), _VALID), absent=UNCHANGED))
    listing = Listing(
        order={"id": "pk", "name": "name", "instanceType": "type"},
        filters={"id": number("pk"), "name": exactly("name"), "instanceType": exactly("type")},
        default_limit=DEFAULT_LIMIT,
    )

    def represent(self, row: DataStore) -> dict[str, Any]:
        return {"id": row.pk, "name": row.name, "instanceType": row.type}

    def item(self, row: Any) -> dict[str, Any]:
        contexts = [_with_instance(each) for each in row.shown_contexts]
        derivatives = [_with_instance(each) for each in row.shown_derivatives]
        return self.represent(row) | {"odsInstanceContexts": contexts, "odsInstanceDerivatives": derivatives}

    def add(self, values: dict[str, Any]) -> Response:
        self._refuse_taken(values["name"])
        answer = super().add(values | {"dataStoreType": values["instanceType"]})
        answer.data = None
        return answer

    def change(self, row: DataStore, values: dict[str, Any]) -> None:
        self._refuse_taken(values["name"], row.pk)
        connection = values["connectionString"] or UNCHANGED
        super().change(row, values | {"dataStoreType": values["instanceType"], "connectionString": connection})

    def remove(self, row: DataStore) -> None:
        uses = {
            "OdsInstanceContexts": row.contexts.exists(),
            "OdsInstanceDerivatives": row.derivatives.exists(),
            "ApiClients": row.api_clients.exists(),
        }
        for table, is_used in uses.items():
            if is_used:
                text = f"There are some {table} associated to this OdsInstance. Can not be deleted."
                raise problems.invalid_data({"Id": [text]})
        super().remove(row)

    def _refuse_taken(self, name: str, own: int = 0) -> None:
        # Names of data stores are not unique: version 3 and commands allow equal ones.
        if DataStore.objects.filter(tenant=self.tenant, name=name).exclude(pk=own).exists():
            raise problems.invalid_data({"Name": [_TAKEN]})


def _with_instance(part: dict[str, Any]) -> dict[str, Any]:
    found = {("odsInstanceId" if key == "dataStoreId" else key): value for key, value in part.items()}
    return {key: value for key, value in found.items() if key != "connectionString"}


class OdsInstanceContexts(Version2, DataStoreContexts):
    """Contexts of data stores."""

    address = "odsInstanceContexts"
    title = "Ods Instance Context"
    missing = missing_text("odsInstanceContext")
    shape = (_INSTANCE, *DataStoreContexts.shape[1:])
    shape_of_put = shape
    listing = replace(
        DataStoreContexts.listing,
        order={"id": "pk", "odsInstanceId": "data_store_id", "contextKey": "key", "contextValue": "value"},
        default_limit=DEFAULT_LIMIT,
    )

    def represent(self, row: DataStoreContext) -> dict[str, Any]:
        return _with_instance(super().represent(row))

    def change(self, row: DataStoreContext, values: dict[str, Any]) -> None:
        super().change(row, values | {"dataStoreId": self.instance(values)})

    def instance(self, values: dict[str, Any]) -> int:
        return known_instance(values["odsInstanceId"], Q(tenant=self.tenant))

    def taken(self, values: dict[str, Any]) -> problems.Refusal:
        text = "The combined key ODS instance id and context key must be unique."
        return problems.invalid_data({"ContextKey": [text]})


class OdsInstanceDerivatives(Version2, DataStoreDerivatives):
    """Derivatives of data stores: one of each type."""

    address = "odsInstanceDerivatives"
    title = "Ods Instance Derivative"
    missing = missing_text("odsInstanceDerivative")
    shape = (
        _INSTANCE,
        DataStoreDerivatives.shape[1],
        Member("connectionString", rules=(NOT_EMPTY, at_most(LONGEST), _VALID)),
    )
    shape_of_put = (*shape[:2], Member("connectionString", rules=(at_most(LONGEST), _VALID), absent=UNCHANGED))
    listing = replace(
        DataStoreDerivatives.listing,
        order={"id": "pk", "odsInstanceId": "data_store_id", "derivativeType": "type"},
        default_limit=DEFAULT_LIMIT,
    )

    def represent(self, row: DataStoreDerivative) -> dict[str, Any]:
        return _with_instance(super().represent(row))

    def add(self, values: dict[str, Any]) -> Response:
        answer = super().add(values)
        answer.data = None
        return answer

    def change(self, row: DataStoreDerivative, values: dict[str, Any]) -> None:
        instance = known_instance(values["odsInstanceId"], Q(tenant=self.tenant))
        others = DataStoreDerivative.objects.filter(data_store=instance, type=values["derivativeType"])
        if others.exclude(pk=row.pk).exists():
            text = "The combined key ODS instance id and derivative type must be unique."
            raise problems.invalid_data({"DerivativeType": [text]})
        super().change(row, values | {"dataStoreId": instance})


def known_instance(number_: int, visible: Q) -> int:
    """The number, if there is such a data store. Raises a Refusal."""
    if not DataStore.objects.filter(visible, pk=number_).exists():
        raise problems.invalid_data({"OdsInstanceId": no_instances([number_])})
    return number_
