"""Data stores, contexts and derivatives as ODS instances of Admin API 2, and its tenants. Connection strings are never
answered."""

from dataclasses import replace
from typing import Annotated, Any

from msgspec import UNSET
from rest_framework.request import Request
from rest_framework.response import Response

from edfi_api.core.data_stores.connection_strings import LONGEST, MAIN, destination
from edfi_api.core.data_stores.exceptions import ConnectionUnusable
from edfi_api.core.data_stores.models import DataStore, DataStoreContext, DataStoreDerivative, Tenant
from edfi_api.core.data_stores.tenants import tenant_named
from edfi_api.core.queries.listing.fields import Field
from edfi_api.features.management_api import access, problems, texts
from edfi_api.features.management_api.answer_shapes import DescribedAnswer, ListedTenant
from edfi_api.features.management_api.bodies import (
    NOT_EMPTY,
    POSITIVE,
    Integer,
    ManagementBody,
    Text,
    at_most,
    is_empty,
    name_rule,
    rule,
)
from edfi_api.features.management_api.listing import EXACT, NUMBER, Listing
from edfi_api.features.management_api.v2.collections import DEFAULT_LIMIT, Version2, missing, no_instances, renamed
from edfi_api.features.management_api.v3.data_stores import (
    IS_TYPE,
    ContextBody,
    DataStoreBody,
    DataStoreContexts,
    DataStoreDerivatives,
    DataStores,
    DerivativeBody,
    KeptText,
)
from edfi_api.features.management_api.views import ManagementView


def _is_no_connection(text: str | None) -> bool:
    if is_empty(text) or text is None or text == MAIN:
        return False
    try:
        destination(text)
    except ConnectionUnusable:
        return True
    return False


_IS_CONNECTION = rule(_is_no_connection, texts.V2.NO_CONNECTION)
_NAMES = {"dataStoreId": "odsInstanceId"}


class OdsInstanceBody(ManagementBody, frozen=True, kw_only=True):
    """Of a POST."""

    example = {
        "name": "2027",
        "instanceType": "SchoolYear",
        "connectionString": DataStoreBody.example["connectionString"],
    }

    name: Annotated[Text, name_rule(100)] = None
    instance_type: Annotated[Text, name_rule(50)] = None
    connection_string: Annotated[KeptText, NOT_EMPTY, at_most(LONGEST), _IS_CONNECTION] = None

    def translated(self) -> DataStoreBody:
        return DataStoreBody(
            name=self.name, data_store_type=self.instance_type, connection_string=self.connection_string or UNSET
        )


class OdsInstanceChangeBody(OdsInstanceBody, frozen=True, kw_only=True):
    """Of a PUT, which keeps a connection string that it does not have."""

    connection_string: Annotated[KeptText, at_most(LONGEST), _IS_CONNECTION] = UNSET


class OdsInstanceContextBody(ManagementBody, frozen=True, kw_only=True):
    """Of POST and PUT."""

    example = {"odsInstanceId": 1, "contextKey": "schoolYear", "contextValue": "2027"}

    ods_instance_id: Annotated[Integer, POSITIVE] = None
    context_key: Annotated[Text, name_rule(256)] = None
    context_value: Annotated[Text, name_rule(256)] = None

    def translated(self) -> ContextBody:
        return ContextBody(
            data_store_id=self.ods_instance_id, context_key=self.context_key, context_value=self.context_value
        )


class OdsInstanceDerivativeBody(ManagementBody, frozen=True, kw_only=True):
    """Of a POST."""

    example = {
        "odsInstanceId": 1,
        "derivativeType": "ReadReplica",
        "connectionString": DerivativeBody.example["connectionString"],
    }

    ods_instance_id: Annotated[Integer, POSITIVE] = None
    derivative_type: Annotated[Text, IS_TYPE] = None
    connection_string: Annotated[KeptText, NOT_EMPTY, at_most(LONGEST), _IS_CONNECTION] = None

    def translated(self) -> DerivativeBody:
        return DerivativeBody(
            data_store_id=self.ods_instance_id,
            derivative_type=self.derivative_type,
            connection_string=self.connection_string,
        )


class OdsInstanceDerivativeChangeBody(OdsInstanceDerivativeBody, frozen=True, kw_only=True):
    """Of a PUT."""

    connection_string: Annotated[KeptText, at_most(LONGEST), _IS_CONNECTION] = UNSET


def _translated(part: dict[str, Any]) -> dict[str, Any]:
    """A context or derivative of version 3."""
    return {key: value for key, value in renamed(part, _NAMES).items() if key != "connectionString"}


class OdsInstances(Version2, DataStores):
    """Data stores whose names are unique, among those that are made here."""

    address = "odsInstances"
    singular = "odsInstance"
    title = "Ods Instance"
    bodies = {"create": OdsInstanceBody, "update": OdsInstanceChangeBody}
    listing = Listing(
        order={"id": "pk", "name": "name", "instanceType": "type"},
        filters=(Field("id", "pk", NUMBER), Field("name", "name", EXACT), Field("instanceType", "type", EXACT)),
        default_limit=DEFAULT_LIMIT,
    )

    def represent(self, row: DataStore) -> dict[str, Any]:
        return {"id": row.pk, "name": row.name, "instanceType": row.type}

    def item(self, row: Any) -> dict[str, Any]:
        contexts = [_translated(each) for each in row.shown_contexts]
        derivatives = [_translated(each) for each in row.shown_derivatives]
        return self.represent(row) | {"odsInstanceContexts": contexts, "odsInstanceDerivatives": derivatives}

    def add(self, body: DataStoreBody) -> Response:
        self._refuse_taken(body)
        answer = super().add(body)
        answer.data = None
        return answer

    def change(self, row: DataStore, body: DataStoreBody) -> None:
        self._refuse_taken(body, row.pk)
        super().change(row, body)

    def remove(self, row: DataStore) -> None:
        uses = {
            "OdsInstanceContexts": row.contexts.exists(),
            "OdsInstanceDerivatives": row.derivatives.exists(),
            "ApiClients": row.api_clients.exists(),
        }
        for table, is_used in uses.items():
            if is_used:
                raise problems.invalid_data({"Id": [texts.V2.INSTANCE_IN_USE.format(table=table)]})
        super().remove(row)

    def _refuse_taken(self, body: DataStoreBody, own: int = 0) -> None:
        # Names of data stores are not unique: version 3 and commands allow equal ones.
        if DataStore.objects.filter(tenant=self.tenant, name=body.name or "").exclude(pk=own).exists():
            raise problems.invalid_data({"Name": [texts.V2.INSTANCE_TAKEN]})


class OdsInstanceContexts(Version2, DataStoreContexts):
    """Contexts of data stores."""

    address = "odsInstanceContexts"
    singular = "odsInstanceContext"
    title = "Ods Instance Context"
    bodies = {"create": OdsInstanceContextBody, "update": OdsInstanceContextBody}
    listing = replace(
        DataStoreContexts.listing,
        order={"id": "pk", "odsInstanceId": "data_store_id", "contextKey": "key", "contextValue": "value"},
        default_limit=DEFAULT_LIMIT,
    )

    def represent(self, row: DataStoreContext) -> dict[str, Any]:
        return _translated(super().represent(row))

    def change(self, row: DataStoreContext, body: ContextBody) -> None:
        self.check_store(body.data_store_id)
        super().change(row, body)

    def missing_store(self, number: int | None) -> problems.RequestRefused:
        return problems.invalid_data({"OdsInstanceId": no_instances([number or 0])})

    def taken(self, row: DataStoreContext) -> str:
        return texts.V2.CONTEXT_TAKEN


class OdsInstanceDerivatives(Version2, DataStoreDerivatives):
    """Derivatives of data stores: one of each type."""

    address = "odsInstanceDerivatives"
    singular = "odsInstanceDerivative"
    title = "Ods Instance Derivative"
    bodies = {"create": OdsInstanceDerivativeBody, "update": OdsInstanceDerivativeChangeBody}
    listing = replace(
        DataStoreDerivatives.listing,
        order={"id": "pk", "odsInstanceId": "data_store_id", "derivativeType": "type"},
        default_limit=DEFAULT_LIMIT,
    )

    def represent(self, row: DataStoreDerivative) -> dict[str, Any]:
        return _translated(super().represent(row))

    def add(self, body: DerivativeBody) -> Response:
        answer = super().add(body)
        answer.data = None
        return answer

    def change(self, row: DataStoreDerivative, body: DerivativeBody) -> None:
        self.check_store(body.data_store_id)
        others = DataStoreDerivative.objects.filter(data_store=body.data_store_id, type=body.derivative_type or "")
        if others.exclude(pk=row.pk).exists():
            raise problems.invalid_data({"DerivativeType": [texts.V2.DERIVATIVE_TAKEN]})
        super().change(row, body)

    def missing_store(self, number: int | None) -> problems.RequestRefused:
        return problems.invalid_data({"OdsInstanceId": no_instances([number or 0])})


class TenantsView(ManagementView):
    """`v2/tenants`, by name. Where their data lies is not said."""

    version = "v2"
    has_tenants = False
    answers = {"get": DescribedAnswer(200, list[ListedTenant])}

    def get(self, request: Request, name: str | None = None) -> Response:
        if not access.is_multi_tenant():
            raise problems.not_found()
        if name is None:
            return Response([_described(tenant) for tenant in Tenant.objects.all()])
        found = tenant_named(name.replace("\0", ""))
        if found is None:
            raise missing("tenant", name)
        return Response(_described(found))


def _described(tenant: Tenant) -> dict[str, Any]:
    nowhere = {"host": None, "database": None}
    return {
        "tenantName": tenant.name,
        "adminConnectionString": nowhere,
        "securityConnectionString": nowhere,
    }
