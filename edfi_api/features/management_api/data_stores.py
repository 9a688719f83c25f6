"""Data stores with their contexts and derivatives, tenants, and connections to other Ed-Fi APIs.

Connection strings are shown without the password, and kept where they come back so; secrets of connections are sent and
never shown.
"""

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any

from django.contrib.postgres.expressions import ArraySubquery
from django.core.exceptions import ValidationError
from django.db.models import OuterRef, QuerySet
from django.db.models.functions import JSONObject
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from edfi_api.core.data_stores.exceptions import NoStoreKey
from edfi_api.core.data_stores.models import DataStore, DataStoreContext, DataStoreDerivative, State, Tenant
from edfi_api.core.data_stores.routing_cache import primary_of
from edfi_api.core.data_stores.status import is_refused, read_status
from edfi_api.core.data_stores.stores import (
    create_data_store,
    encrypted_connection,
    remove_data_store,
    set_connection,
    set_state,
    unique_names,
)
from edfi_api.core.queries.listing import Field
from edfi_api.core.security.models import ApiClient
from edfi_api.features.exchange.models import Connection
from edfi_api.features.exchange.stored_connections import check
from edfi_api.features.management_api import answers, clients, problems, serializers, texts
from edfi_api.features.management_api.listing import BY_NAME, EXACT, UNFILTERED, Listing
from edfi_api.features.management_api.vendors import applications_of
from edfi_api.features.management_api.views import CollectionViewSet, CreateViewSet, assign

_METADATA = frozenset({"list", "retrieve"})


@contextmanager
def _storing_connections() -> Iterator[None]:
    """Raise RequestRefused for a connection string that must not be stored, and for a missing key to encrypt it."""
    try:
        yield
    except ValidationError as error:
        raise problems.invalid_data(error.message_dict) from None
    except NoStoreKey:
        raise problems.invalid_data({"ConnectionString": [texts.NO_STORE_KEY]}) from None


class DataStoreViewSet(CollectionViewSet):
    """Data stores. One that is made here can be used as soon as its database has tables."""

    noun = "data store"
    # Whether the name has to be that of no other data store.
    has_unique_names = False
    # Whether one that has contexts, derivatives or clients stays.
    is_kept_in_use = False
    metadata_actions = _METADATA
    serializer_class = serializers.DataStoreSerializer
    action_serializers = {"applications": serializers.ApplicationSerializer}
    action_answers = {"create": (201, answers.CreatedItem)}
    listing = Listing(("pk", "name", "type"), ("pk", "name", "type"))
    refusals = {"data_store_name_is_unique": ("Name", texts.V2.INSTANCE_TAKEN)}

    def get_queryset(self) -> QuerySet[DataStore]:
        contexts = DataStoreContext.objects.filter(data_store=OuterRef("pk")).order_by("key", "pk")
        derivatives = DataStoreDerivative.objects.filter(data_store=OuterRef("pk")).order_by("pk")
        of_contexts = {"id": "pk", "dataStoreId": "data_store_id", "contextKey": "key", "contextValue": "value"}
        of_derivatives = {
            "id": "pk", "dataStoreId": "data_store_id", "derivativeType": "type", "connectionString": "connection",
        }  # fmt: skip
        return DataStore.objects.filter(tenant=self.tenant).annotate(
            contexts_shown=ArraySubquery(contexts.values(item=JSONObject(**of_contexts))),
            derivatives_shown=ArraySubquery(derivatives.values(item=JSONObject(**of_derivatives))),
        )

    def secrets(self, row: Any) -> dict[str, Any]:
        return {"connectionString": row.connection}

    def add(self, serializer: Any, values: dict[str, Any]) -> Response:
        with _storing_connections(), self._names():
            row = create_data_store(
                values["name"],
                type=values["type"],
                connection=values["connection"] or None,
                state=State.ONLINE,
                tenant=self.tenant,
                by=self.by,
            )
        return self.created(row, _created(self.version, row.pk, texts.STORE_CREATED.format(name=row.name)))

    def change(self, row: DataStore, serializer: Any, values: dict[str, Any]) -> None:
        row.name, row.type = values["name"], values["type"]
        with self._names():
            row.save(update_fields=["name", "type"])
        if "connection" in values and not serializers.is_kept(row.connection, values["connection"]):
            with _storing_connections():
                set_connection(row, values["connection"] or None, by=self.by)

    def remove(self, row: DataStore) -> None:
        """Delete the data store; its database stays."""
        uses: dict[str, Any] = {
            "OdsInstanceContexts": row.contexts,
            "OdsInstanceDerivatives": row.derivatives,
            "ApiClients": row.api_clients,
        }
        for table, rows in uses.items() if self.is_kept_in_use else ():
            if rows.exists():
                raise problems.invalid_data({"Id": [texts.V2.INSTANCE_IN_USE.format(table=table)]})
        remove_data_store(row, by=self.by)

    @action(detail=True, methods=["get"], listing=UNFILTERED)
    def applications(self, request: Request, id: str) -> Response:
        """List the applications of which a client has this data store."""
        return self.listed(applications_of(self.tenant).filter(api_clients__data_stores=self.found(id)).distinct())

    def _names(self) -> AbstractContextManager[None]:
        return unique_names() if self.has_unique_names else nullcontext()


class DataStoreStateViewSet(DataStoreViewSet):
    """Data stores of version 3, which have a state and a status."""

    action_serializers = {**DataStoreViewSet.action_serializers, "state": serializers.StateSerializer}
    action_answers = {**DataStoreViewSet.action_answers, "status": (200, answers.DataStoreStatus)}

    @action(detail=True, methods=["get"])
    def status(self, request: Request, id: str) -> Response:
        """Say what the database answers, and whether this process refuses its requests."""
        row = self.found(id)
        database = primary_of(row)
        status = read_status(database)
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

    @action(detail=True, methods=["put"])
    def state(self, request: Request, id: str) -> Response:
        """Change what the data store can be used for."""
        _, values = self.read()
        with self.write_transaction():
            set_state(self.found(id, for_update=True), State(values["state"]), by=self.by)
        return self.changed()


class _PartViewSet(CollectionViewSet):
    """Rows that belong to a data store of the tenant."""

    metadata_actions = _METADATA

    def check_store(self, serializer: Any, number: int | None) -> None:
        """Raise RequestRefused if there is no such data store."""
        if not DataStore.objects.filter(tenant=self.tenant, pk=number or 0).exists():
            raise serializer.missing_store(number)


class ContextViewSet(_PartViewSet):
    """The values of qualifiers that belong to a data store."""

    noun = "data store context"
    serializer_class = serializers.ContextSerializer
    action_answers = {"create": (201, answers.Identified)}
    listing = Listing(("pk", "data_store_id", "key", "value"))
    refusals = {"context_once_per_qualifier": ("ContextKey", texts.CONTEXT_TAKEN)}

    def get_queryset(self) -> QuerySet[DataStoreContext]:
        return DataStoreContext.objects.filter(data_store__tenant=self.tenant)

    def add(self, serializer: Any, values: dict[str, Any]) -> Response:
        row = DataStoreContext()
        self.change(row, serializer, values)
        return self.created(row, {"id": row.pk})

    def change(self, row: DataStoreContext, serializer: Any, values: dict[str, Any]) -> None:
        serializers.check_segment_of("ContextValue", values["value"])
        self.check_store(serializer, values["data_store_id"])
        assign(row, values)
        row.save()


class DerivativeViewSet(_PartViewSet):
    """Derivatives: other databases with the data of a data store."""

    noun = "data store derivative"
    # Whether a data store has one of each type at most.
    has_unique_types = False
    serializer_class = serializers.DerivativeSerializer
    action_answers = {"create": (201, answers.CreatedItem)}
    listing = Listing(("pk", "data_store_id", "type"))
    refusals = {"derivative_type_is_unique": ("DerivativeType", texts.V2.DERIVATIVE_TAKEN)}

    def get_queryset(self) -> QuerySet[DataStoreDerivative]:
        return DataStoreDerivative.objects.filter(data_store__tenant=self.tenant)

    def secrets(self, row: DataStoreDerivative) -> dict[str, Any]:
        return {"connectionString": row.connection}

    def add(self, serializer: Any, values: dict[str, Any]) -> Response:
        row = DataStoreDerivative()
        self.change(row, serializer, values)
        return self.created(row, _created(self.version, row.pk, texts.DERIVATIVE_CREATED.format(type=row.type)))

    def change(self, row: DataStoreDerivative, serializer: Any, values: dict[str, Any]) -> None:
        self.check_store(serializer, values["data_store_id"])
        row.data_store_id, row.type = values["data_store_id"], values["type"]
        if "connection" in values and not serializers.is_kept(row.connection, values["connection"]):
            with _storing_connections():
                row.connection = encrypted_connection(values["connection"] or None, row.data_store.tenant_id)
        with unique_names() if self.has_unique_types else nullcontext():
            row.save()


def _created(version: str, number: int, title: str) -> dict[str, Any] | None:
    """Return what version 3 says about a new item in words."""
    return None if version == "v2" else {"id": number, "status": 201, "title": title}


class TenantViewSet(CreateViewSet):
    """Tenants, on servers with tenants, are listed and made; what they own stands in their way of being removed."""

    noun = "tenant"
    has_tenants = False
    serializer_class = serializers.TenantSerializer
    action_answers = {"create": (201, answers.CreatedItem)}
    listing = BY_NAME
    refusals = {"tenant_once_in_any_case": ("Name", texts.TENANT_TAKEN)}

    @classmethod
    def is_served(cls) -> bool:
        return clients.is_multi_tenant()

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        if not self.is_served():
            raise problems.not_found()
        super().initial(request, *args, **kwargs)

    def get_queryset(self) -> QuerySet[Tenant]:
        return Tenant.objects.all()

    def add(self, serializer: Any, values: dict[str, Any]) -> Response:
        serializers.check_segment_of("Name", values["name"])
        row = Tenant.objects.create(**values)
        return self.created(row, _created("v3", row.pk, texts.TENANT_CREATED.format(name=row.name)))


class ConnectionViewSet(CollectionViewSet):
    """Connections to other APIs, with what the workers of each have reported."""

    noun = "connection"
    serializer_class = serializers.ConnectionSerializer
    # Lists have a parameter `direction`, that of their order.
    listing = Listing(("pk", "name"), ("pk", "name", Field("connectionDirection", "direction", EXACT)))
    refusals = {
        "connection_once_in_any_case": ("Name", texts.CONNECTION_TAKEN),
        "connection_of_one_tenant": ("DataStoreId", texts.NO_STORE),
    }

    def get_queryset(self) -> QuerySet[Connection]:
        return Connection.objects.filter(api_client__application__vendor__tenant=self.tenant).select_related("state")

    def secrets(self, row: Connection) -> dict[str, Any]:
        return {"state": None, "secret": row.secret}

    def add(self, serializer: Any, values: dict[str, Any]) -> Response:
        row = Connection()
        self.change(row, serializer, values)
        return self.created(row, members=",".join(serializer.members))

    def change(self, row: Connection, serializer: Any, values: dict[str, Any]) -> None:
        secret = values.pop("secret", None)
        self._resolve(row, values.pop("api_client_id"), values.pop("data_store_id"))
        assign(row, values | {"selection": values["selection"] or "all"})
        try:
            if secret is not None:
                row.set_secret(secret)
            check(row)
        except NoStoreKey:
            raise problems.invalid_data({"Secret": [texts.NO_STORE_KEY]}) from None
        except ValidationError as error:
            found = {serializer.key_of(column): messages for column, messages in error.message_dict.items()}
            raise problems.invalid_data(found) from None
        row.save()

    def _resolve(self, row: Connection, client_id: int | None, store_id: int | None) -> None:
        """Set the client and the data store. Raises RequestRefused."""
        client = ApiClient.objects.filter(pk=client_id or 0, application__vendor__tenant=self.tenant).first()
        if client is None:
            raise problems.invalid_data({"ApiClientId": [texts.NO_REFERENCE.format(name="ApiClientId")]})
        store = DataStore.objects.filter(pk=store_id or 0, tenant=self.tenant).first()
        if store_id is not None and store is None:
            raise problems.invalid_data({"DataStoreId": [texts.NO_STORE]})
        row.api_client, row.data_store = client, store
