"""`v3/connections`: connections to other Ed-Fi APIs. A secret is sent and never shown."""

from datetime import datetime
from typing import Annotated, Any

from django.core.exceptions import ValidationError
from django.db.models import QuerySet
from msgspec import UNSET, UnsetType
from rest_framework.response import Response

from edfi_api.core.data_stores.exceptions import NoStoreKey
from edfi_api.core.data_stores.models import DataStore
from edfi_api.core.queries.listing.fields import Field
from edfi_api.core.security.models import ApiClient
from edfi_api.features.exchange.models import Connection, ConnectionState
from edfi_api.features.exchange.stored_connections import checked, current_phase
from edfi_api.features.management_api import problems, texts
from edfi_api.features.management_api.bodies import (
    EACH_POSITIVE,
    NOT_EMPTY,
    POSITIVE,
    Boolean,
    Int64,
    Integer,
    LongIntegers,
    LowerCasedObject,
    ManagementBody,
    Text,
    Texts,
    name_rule,
)
from edfi_api.features.management_api.collections import Answered, Collection
from edfi_api.features.management_api.listing import EXACT, NUMBER, Listing

# The members that have another name than their columns.
_MEMBERS = {
    "address": "Address",
    "with_descriptors": "WithDescriptors",
    "is_enabled": "Enabled",
    "api_client": "ApiClientId",
    "data_store": "DataStoreId",
}


class ConnectionBody(ManagementBody, frozen=True, kw_only=True):
    """Of a POST. What is omitted is as `add_connection` has it without the option."""

    example = {
        "name": "lakeside",
        "direction": "pull",
        "address": "https://api.lakeside.example/",
        "key": "key",
        "secret": "secret",
        "apiClientId": 1,
    }

    name: Annotated[Text, name_rule(256)] = None
    direction: Annotated[Text, NOT_EMPTY] = None
    address: Annotated[Text, name_rule(1000)] = None
    token_address: Text = None
    key: Annotated[Text, name_rule(256)] = None
    secret: Annotated[Text | UnsetType, NOT_EMPTY] = None
    api_client_id: Annotated[Integer, NOT_EMPTY, POSITIVE] = None
    data_store_id: Integer = None
    scope: Int64 | None = None
    school_year: Integer = None
    read_profile: Text = None
    write_profile: Text = None
    selection: Text = None
    resources: Texts = None
    with_descriptors: Boolean = None
    education_organization_ids: Annotated[LongIntegers, EACH_POSITIVE] = None
    descriptor_mapping: Text = None
    requests_per_second: Integer = None
    enabled: Boolean = None


class ConnectionChangeBody(ConnectionBody, frozen=True, kw_only=True):
    """Of a PUT, which keeps the secret if it omits it."""

    example = {"id": 1, **ConnectionBody.example}

    id: Integer = None
    secret: Annotated[Text | UnsetType, NOT_EMPTY] = UNSET


class _Answered(Answered, frozen=True, kw_only=True):
    state: LowerCasedObject | None = None


class Connections(Collection):
    """Connections to other APIs, with what the workers of each have reported."""

    address = "connections"
    noun = "connection"
    bodies = {"create": ConnectionBody, "update": ConnectionChangeBody}
    listing = Listing(
        order={"id": "pk", "name": "name"},
        filters=(
            Field("id", "pk", NUMBER),
            Field("name", "name", EXACT),
            # Lists have a parameter `direction`, that of their order.
            Field("connectionDirection", "direction", EXACT),
        ),
    )
    answered = _Answered
    refusals = {
        "connection_once_in_any_case": problems.invalid_data({"Name": [texts.CONNECTION_TAKEN]}),
        "connection_of_one_tenant": problems.invalid_data({"DataStoreId": [texts.NO_STORE]}),
    }

    def rows(self) -> QuerySet[Connection]:
        return Connection.objects.filter(api_client__application__vendor__tenant=self.tenant).select_related("state")

    def represent(self, row: Connection) -> dict[str, Any]:
        return {
            "id": row.pk,
            "name": row.name,
            "direction": row.direction,
            "address": row.address,
            "tokenAddress": row.token_address,
            "key": row.key,
            "apiClientId": row.api_client_id,
            "dataStoreId": row.data_store_id,
            "scope": row.scope,
            "schoolYear": row.school_year,
            "readProfile": row.read_profile,
            "writeProfile": row.write_profile,
            "selection": row.selection,
            "resources": row.resources,
            "withDescriptors": row.with_descriptors,
            "educationOrganizationIds": row.education_organization_ids,
            "descriptorMapping": row.descriptor_mapping,
            "requestsPerSecond": row.requests_per_second,
            "enabled": row.is_enabled,
            "state": _state(row, getattr(row, "state", None)),
        }

    def whole_item(self, row: Connection) -> dict[str, Any]:
        return {**self.represent(row), "state": None, "secret": row.secret}

    def add(self, body: ConnectionBody) -> Response:
        row = Connection()
        self._store(row, body)
        return self.created(row, members=self.sent_members)

    def change(self, row: Connection, body: ConnectionBody) -> None:
        self._store(row, body)

    def _store(self, row: Connection, body: ConnectionBody) -> None:
        for column, value in self._columns(body).items():
            setattr(row, column, value)
        try:
            if isinstance(body.secret, str):
                row.set_secret(body.secret)
            checked(row)
        except NoStoreKey:
            raise problems.invalid_data({"Secret": [texts.NO_STORE_KEY]}) from None
        except ValidationError as error:
            raise problems.invalid_data({_member(name): found for name, found in error.message_dict.items()}) from None
        row.save()

    def _columns(self, body: ConnectionBody) -> dict[str, Any]:
        client = ApiClient.objects.filter(pk=body.api_client_id or 0, application__vendor__tenant=self.tenant).first()
        if client is None:
            raise problems.invalid_data({"ApiClientId": [texts.NO_REFERENCE.format(name="ApiClientId")]})
        store = DataStore.objects.filter(pk=body.data_store_id or 0, tenant=self.tenant).first()
        if body.data_store_id is not None and store is None:
            raise problems.invalid_data({"DataStoreId": [texts.NO_STORE]})
        return {
            "name": body.name or "",
            "direction": body.direction or "",
            "address": body.address or "",
            "token_address": body.token_address or "",
            "key": body.key or "",
            "api_client": client,
            "data_store": store,
            "scope": body.scope,
            "school_year": body.school_year,
            "read_profile": body.read_profile or "",
            "write_profile": body.write_profile or "",
            "selection": body.selection or "all",
            "resources": body.resources or [],
            "with_descriptors": body.with_descriptors is not False,
            "education_organization_ids": body.education_organization_ids or [],
            "descriptor_mapping": body.descriptor_mapping or "",
            "requests_per_second": body.requests_per_second,
            "is_enabled": bool(body.enabled),
        }


def _member(column: str) -> str:
    return _MEMBERS.get(column) or "".join(word.title() for word in column.split("_"))


def _state(row: Connection, state: ConnectionState | None) -> dict[str, Any] | None:
    if state is None:
        return None
    return {
        "phase": str(current_phase(row, state)),
        "since": _moment(state.since),
        "reportedAt": _moment(state.reported_at),
        "failure": state.failure,
        "position": state.position,
        "newest": state.newest,
        "caughtUpAt": _moment(state.caught_up_at),
        "accepted": state.accepted,
        "refused": state.refused,
    }


def _moment(at: datetime | None) -> str | None:
    return None if at is None else at.isoformat(timespec="seconds").replace("+00:00", "Z")
