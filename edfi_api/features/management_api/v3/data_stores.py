"""`v3/dataStores`, with their contexts and derivatives in the answers; `v3/dataStoreContexts`,
`v3/dataStoreDerivatives` and `v3/tenants`.

Connection strings are shown without the password, and kept where they come back so.
"""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated, Any

from django.contrib.postgres.expressions import ArraySubquery
from django.core.exceptions import ValidationError
from django.db.models import OuterRef, QuerySet
from django.db.models.functions import JSONObject
from msgspec import UNSET, UnsetType
from rest_framework.request import Request
from rest_framework.response import Response

from edfi_api.core.data_stores.connection_strings import LONGEST, MAIN, MASK, decrypt, destination
from edfi_api.core.data_stores.exceptions import ConnectionUnusable, NoStoreKey
from edfi_api.core.data_stores.models import (
    DataStore,
    DataStoreContext,
    DataStoreDerivative,
    DerivativeType,
    State,
    Tenant,
)
from edfi_api.core.data_stores.routes import primary_of
from edfi_api.core.data_stores.status import is_refused, status_of
from edfi_api.core.data_stores.stores import (
    check_segment,
    create_data_store,
    encrypted_connection,
    remove_data_store,
    set_connection,
    set_state,
)
from edfi_api.core.queries.listing.fields import Field
from edfi_api.features.management_api import access, problems, texts
from edfi_api.features.management_api.answer_shapes import CreatedItem, DataStoreStatus, DescribedAnswer, Identified
from edfi_api.features.management_api.answers import write_transaction
from edfi_api.features.management_api.bodies import (
    NOT_EMPTY,
    POSITIVE,
    Integer,
    ManagementBody,
    Objects,
    Text,
    all_of,
    at_most,
    integer,
    is_empty,
    name_rule,
    rule,
)
from edfi_api.features.management_api.collections import Answered, Collection
from edfi_api.features.management_api.listing import EXACT, NUMBER, Listing

_TYPES = list(DerivativeType.values)
# The member is absent, so that the stored connection string stays.
KeptText = Text | UnsetType
IS_STORE = rule(lambda value: (value or 0) <= 0, texts.NO_STORE_ID)
_IS_SHORT = at_most(LONGEST, texts.LONG_CONNECTION)
_IS_TENANT_NAME = rule(lambda value: re.fullmatch(r"[A-Za-z0-9_-]+", value or "") is None, texts.ODD_TENANT_NAME)
IS_TYPE = all_of(
    rule(is_empty, texts.NO_DERIVATIVE_TYPE),
    at_most(50, texts.LONG_DERIVATIVE_TYPE),
    rule(lambda value: value not in _TYPES, texts.UNKNOWN_DERIVATIVE_TYPE),
)
_STATES = texts.UNKNOWN_STATE.format(states=", ".join(State.values))
_METADATA = frozenset({"list", "retrieve"})


class DataStoreBody(ManagementBody, frozen=True, kw_only=True):
    """Of a POST."""

    example = {
        "dataStoreType": "SchoolYear",
        "name": "2027",
        "connectionString": "host=db.lakeside.example dbname=meadowlark_2027 user=meadowlark",
    }

    data_store_type: Annotated[Text, name_rule(50)] = None
    name: Annotated[Text, name_rule(256)] = None
    connection_string: Annotated[KeptText, at_most(LONGEST)] = None


class DataStoreChangeBody(DataStoreBody, frozen=True, kw_only=True):
    """Of a PUT."""

    example = {"id": 1, **DataStoreBody.example}

    id: Integer = None
    connection_string: Annotated[KeptText, at_most(LONGEST)] = UNSET


class StateBody(ManagementBody, frozen=True, kw_only=True):
    """Of `PUT dataStores/{id}/state`."""

    example = {"state": State.READ_ONLY.value}

    state: Annotated[Text, rule(lambda value: value not in State.values, _STATES)] = None


class ContextBody(ManagementBody, frozen=True, kw_only=True):
    """Of a POST."""

    example = {"dataStoreId": 1, "contextKey": "schoolYear", "contextValue": "2027"}

    data_store_id: Annotated[Integer, NOT_EMPTY, POSITIVE] = None
    context_key: Annotated[Text, name_rule(256)] = None
    context_value: Annotated[Text, name_rule(256)] = None


class ContextChangeBody(ContextBody, frozen=True, kw_only=True):
    """Of a PUT."""

    example = {"id": 1, **ContextBody.example}

    id: Integer = None


class DerivativeBody(ManagementBody, frozen=True, kw_only=True):
    """Of a POST."""

    example = {
        "dataStoreId": 1,
        "derivativeType": "ReadReplica",
        "connectionString": "host=replica.lakeside.example dbname=meadowlark_2027 user=meadowlark",
    }

    data_store_id: Annotated[Integer, IS_STORE] = None
    derivative_type: Annotated[Text, IS_TYPE] = None
    connection_string: Annotated[KeptText, _IS_SHORT] = None


class DerivativeChangeBody(DerivativeBody, frozen=True, kw_only=True):
    """Of a PUT."""

    example = {"id": 1, **DerivativeBody.example}

    id: Annotated[Integer, rule(lambda value: (value or 0) <= 0, texts.ID_OF_CLIENT)] = None
    connection_string: Annotated[KeptText, _IS_SHORT] = UNSET


class TenantBody(ManagementBody, frozen=True, kw_only=True):
    """Of a POST."""

    example = {"name": "lakeside"}

    name: Annotated[Text, NOT_EMPTY, at_most(256), _IS_TENANT_NAME] = None


class _Answered(Answered, frozen=True, kw_only=True):
    data_store_contexts: Objects = None
    data_store_derivatives: Objects = None
    state: Text = None
    tenant_id: Integer = None


def masked(encrypted: str | None) -> str | None:
    """What answers show of a stored connection string."""
    if encrypted is None:
        return None
    try:
        text = decrypt(encrypted)
        if text == MAIN:
            return MAIN
        where = destination(text)
    except ConnectionUnusable:
        return MASK
    shown = {"host": where.host, "port": where.port, "username": where.user, "database": where.database}
    return "".join(f"{name}={value};" for name, value in shown.items() if value) + f"password={MASK}"


def _is_kept(encrypted: str | None, sent: str | UnsetType | None) -> bool:
    """Whether a PUT keeps a connection string: it is absent, or masked as it was shown."""
    return sent is UNSET or (not sent and encrypted is None) or (bool(sent) and sent == masked(encrypted))


@contextmanager
def _storing_connections() -> Iterator[None]:
    """A connection string that must not be stored raises RequestRefused, as does a missing key to encrypt it."""
    try:
        yield
    except ValidationError as error:
        raise problems.invalid_data(error.message_dict) from None
    except NoStoreKey:
        raise problems.invalid_data({"ConnectionString": [texts.NO_STORE_KEY]}) from None


def _contexts_of_store() -> ArraySubquery:
    """Contexts of a row of data stores, in the order of their keys."""
    rows = DataStoreContext.objects.filter(data_store=OuterRef("pk")).order_by("key", "pk")
    members = JSONObject(id="pk", dataStoreId="data_store_id", contextKey="key", contextValue="value")
    return ArraySubquery(rows.values(item=members))


def _derivatives_of_store() -> ArraySubquery:
    """Derivatives of a row of data stores, with encrypted connection strings."""
    rows = DataStoreDerivative.objects.filter(data_store=OuterRef("pk")).order_by("pk")
    members = JSONObject(id="pk", dataStoreId="data_store_id", derivativeType="type", connectionString="connection")
    return ArraySubquery(rows.values(item=members))


class DataStores(Collection):
    """Data stores. One that is made here can be used as soon as its database has tables."""

    address = "dataStores"
    noun = "data store"
    metadata_actions = _METADATA
    bodies = {"create": DataStoreBody, "update": DataStoreChangeBody, "state": StateBody}
    listing = Listing(
        order={"id": "pk", "name": "name", "dataStoreType": "type"},
        filters=(Field("id", "pk", NUMBER), Field("name", "name", EXACT), Field("dataStoreType", "type", EXACT)),
    )
    answered = _Answered
    answers = {"create": DescribedAnswer(201, CreatedItem), "status": DescribedAnswer(200, DataStoreStatus)}

    def rows(self) -> QuerySet[DataStore]:
        return DataStore.objects.filter(tenant=self.tenant).annotate(
            shown_contexts=_contexts_of_store(), shown_derivatives=_derivatives_of_store()
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

    def whole_item(self, row: Any) -> dict[str, Any]:
        return self.item(row) | {"connectionString": row.connection}

    def add(self, body: DataStoreBody) -> Response:
        with _storing_connections():
            row = create_data_store(
                body.name or "",
                type=body.data_store_type or "",
                connection=body.connection_string or None,
                state=State.ONLINE,
                tenant=self.tenant,
                by=self.by,
            )
        return self.created(row, _created(row.pk, texts.STORE_CREATED.format(name=row.name)))

    def change(self, row: DataStore, body: DataStoreBody) -> None:
        row.name, row.type = body.name or "", body.data_store_type or ""
        row.save(update_fields=["name", "type"])
        if not _is_kept(row.connection, body.connection_string):
            with _storing_connections():
                set_connection(row, body.connection_string or None, by=self.by)

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
        number = integer(id)
        body: StateBody = self.read()
        with self.write_transaction():
            set_state(self.found(number, for_update=True), State(body.state or ""), by=self.by)
        return self.changed()


class _PartsOfDataStores(Collection):
    """Rows that belong to a data store of the tenant."""

    metadata_actions = _METADATA

    def check_store(self, number: int | None) -> None:
        """Raise RequestRefused if there is no such data store."""
        if not DataStore.objects.filter(tenant=self.tenant, pk=number or 0).exists():
            raise self.missing_store(number)

    def missing_store(self, number: int | None) -> problems.RequestRefused:
        raise NotImplementedError


class DataStoreContexts(_PartsOfDataStores):
    """The values of qualifiers that belong to a data store."""

    address = "dataStoreContexts"
    noun = "data store context"
    bodies = {"create": ContextBody, "update": ContextChangeBody}
    answers = {"create": DescribedAnswer(201, Identified)}
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

    def add(self, body: ContextBody) -> Response:
        row = DataStoreContext()
        self.change(row, body)
        return self.created(row, {"id": row.pk})

    def change(self, row: DataStoreContext, body: ContextBody) -> None:
        row.key, row.value = body.context_key or "", body.context_value or ""
        try:
            check_segment(row.value)
        except ValidationError as error:
            raise problems.invalid_data({"ContextValue": error.messages}) from None
        self.check_store(body.data_store_id)
        row.data_store_id = body.data_store_id or 0
        refusal = problems.invalid_data({"ContextKey": [self.taken(row)]})
        with write_transaction({"context_once_per_qualifier": refusal}):
            row.save()

    def missing_store(self, number: int | None) -> problems.RequestRefused:
        return problems.unresolved_reference(texts.NO_REFERENCE.format(name="DataStoreId"))

    def taken(self, row: DataStoreContext) -> str:
        """The text about a key that the data store has already."""
        return texts.CONTEXT_TAKEN.format(store=row.data_store_id, key=row.key)


class DataStoreDerivatives(_PartsOfDataStores):
    """Other databases with the data of a data store."""

    address = "dataStoreDerivatives"
    noun = "data store derivative"
    bodies = {"create": DerivativeBody, "update": DerivativeChangeBody}
    answers = {"create": DescribedAnswer(201, CreatedItem)}
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

    def whole_item(self, row: DataStoreDerivative) -> dict[str, Any]:
        return self.item(row) | {"connectionString": row.connection}

    def add(self, body: DerivativeBody) -> Response:
        row = DataStoreDerivative()
        self.change(row, body)
        return self.created(row, _created(row.pk, texts.DERIVATIVE_CREATED.format(type=row.type)))

    def change(self, row: DataStoreDerivative, body: DerivativeBody) -> None:
        self.check_store(body.data_store_id)
        row.data_store_id, row.type = body.data_store_id or 0, body.derivative_type or ""
        if not _is_kept(row.connection, body.connection_string):
            with _storing_connections():
                row.connection = encrypted_connection(body.connection_string or None, row.data_store.tenant_id)
        row.save()

    def missing_store(self, number: int | None) -> problems.RequestRefused:
        return problems.unresolved_reference(texts.NO_STORE_OF_DERIVATIVE)


class Tenants(Collection):
    """Tenants, on servers with tenants, are listed and made; what they own stands in their way of being removed."""

    address = "tenants"
    noun = "tenant"
    has_tenants = False
    without = frozenset({"update", "destroy"})
    bodies = {"create": TenantBody}
    answers = {"create": DescribedAnswer(201, CreatedItem)}
    listing = Listing(
        order={"id": "pk", "name": "name"}, filters=(Field("id", "pk", NUMBER), Field("name", "name", EXACT))
    )
    refusals = {"tenant_once_in_any_case": problems.invalid_data({"Name": [texts.TENANT_TAKEN]})}

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        if not access.is_multi_tenant():
            raise problems.not_found()
        super().initial(request, *args, **kwargs)

    def rows(self) -> QuerySet[Tenant]:
        return Tenant.objects.all()

    def represent(self, row: Tenant) -> dict[str, Any]:
        return {"id": row.pk, "name": row.name}

    def add(self, body: TenantBody) -> Response:
        try:
            check_segment(body.name or "")
        except ValidationError as error:
            raise problems.invalid_data({"Name": error.messages}) from None
        row = Tenant.objects.create(name=body.name or "")
        return self.created(row, _created(row.pk, texts.TENANT_CREATED.format(name=row.name)))


def _created(id_: int, title: str) -> dict[str, Any]:
    return {"id": id_, "status": 201, "title": title}
