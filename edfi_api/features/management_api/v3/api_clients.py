"""`v3/apiClients`."""

from collections.abc import Iterator
from typing import Annotated, Any

from django.contrib.postgres.expressions import ArraySubquery
from django.core.exceptions import ValidationError
from django.db.models import OuterRef, Q, QuerySet
from msgspec import UNSET, UnsetType
from rest_framework.request import Request
from rest_framework.response import Response

from edfi_api.core.data_stores.models import DataStore
from edfi_api.core.queries.listing.fields import Field
from edfi_api.core.security.clients import (
    remove_client,
    rotate_secret,
    set_approved,
    set_external_identity,
    store_client,
)
from edfi_api.core.security.credentials import Credentials
from edfi_api.core.security.issuers import issuers
from edfi_api.core.security.models import ApiClient, ApiClientDataStore, Application, ExternalIdentity
from edfi_api.features.management_api import problems, texts
from edfi_api.features.management_api.answer_shapes import ClientCredentials, DescribedAnswer
from edfi_api.features.management_api.answers import write_transaction
from edfi_api.features.management_api.bodies import (
    EACH_POSITIVE,
    NOT_EMPTY,
    POSITIVE,
    BodyMember,
    BodyRule,
    Boolean,
    Finding,
    Integer,
    Integers,
    ManagementBody,
    Text,
    integer,
    name_rule,
    rule,
)
from edfi_api.features.management_api.collections import Answered, Collection
from edfi_api.features.management_api.listing import NUMBER, Listing, rows_of


def _identity_findings(member: BodyMember, value: dict[str, Any] | None) -> Iterator[Finding]:
    if not value:
        return
    if set(value) != {"issuer", "value"} or not all(
        isinstance(each, str) and "\0" not in each for each in value.values()
    ):
        yield member.key, texts.HALF_IDENTITY.format(name=member.words)
        return
    try:
        ExternalIdentity(**value).full_clean(exclude={"api_client"}, validate_constraints=False)
    except ValidationError as error:
        yield from (
            (f"{member.key}.{field.title()}", text) for field, found in error.message_dict.items() for text in found
        )


class ApiClientBody(ManagementBody, frozen=True, kw_only=True):
    """Of a POST. Without `externalIdentity` the identity stays what it is: programs for Ed-Fi's own server do not know
    it."""

    example = {"applicationId": 1, "name": "Roster of 2027", "isApproved": True, "dataStoreIds": [1]}

    application_id: Annotated[Integer, NOT_EMPTY, POSITIVE]
    name: Annotated[Text, name_rule(50)]
    is_approved: Boolean
    data_store_ids: Annotated[Integers, rule(lambda value: not value, texts.NO_STORES_OF_CLIENT), EACH_POSITIVE] = None
    external_identity: Annotated[dict[str, Any] | UnsetType | None, BodyRule(_identity_findings)] = UNSET


class ApiClientChangeBody(ApiClientBody, frozen=True, kw_only=True):
    """Of a PUT."""

    example = {"id": 1, **ApiClientBody.example}

    id: Annotated[Integer, rule(lambda value: (value or 0) <= 0, texts.ID_OF_CLIENT)] = None


class _Answered(Answered, frozen=True, kw_only=True):
    client_id: Text = None
    client_uuid: Text = None


class ApiClients(Collection):
    """Clients of applications. The item is found by its key, and changed by its number."""

    address = "apiClients"
    noun = "API client"
    metadata_actions = frozenset({"list", "retrieve"})
    bodies = {"create": ApiClientBody, "update": ApiClientChangeBody}
    listing = Listing(
        order={"id": "pk", "applicationId": "application_id", "name": "name"},
        filters=(Field("applicationid", "application_id", NUMBER),),
    )
    answered = _Answered
    answers = {
        "create": DescribedAnswer(201, ClientCredentials),
        "reset_credential": DescribedAnswer(200, ClientCredentials),
    }

    def rows(self) -> QuerySet[ApiClient]:
        stores = ApiClientDataStore.objects.filter(api_client=OuterRef("pk")).order_by("data_store_id")
        rows: QuerySet[ApiClient] = (
            ApiClient.objects.filter(application__vendor__tenant=self.tenant)
            .select_related("external_identity")
            .annotate(data_store_ids=ArraySubquery(stores.values("data_store_id")))
        )
        return rows

    def represent(self, row: Any) -> dict[str, Any]:
        return {
            "id": row.pk,
            "applicationId": row.application_id,
            "clientId": row.client_id,
            "clientUuid": str(row.uuid),
            "name": row.name,
            "isApproved": row.is_active,
            "dataStoreIds": row.data_store_ids,
            "externalIdentity": _represented(getattr(row, "external_identity", None)),
        }

    def retrieve(self, request: Request, id: str) -> Response:
        """The item with this key."""
        row = self.rows().filter(client_id=id.replace("\0", "\ufffd")).first()
        if row is None:
            raise self.missing()
        return Response(self.represent(row))

    def add(self, body: ApiClientBody) -> Response:
        application, stores = self.resolved(body)
        client = ApiClient(name=body.name or "")
        with _unique(client.name):
            credentials = store_client(client, application, self.by, self.identity_of(body))
        client.data_stores.set(stores)
        set_approved(client, bool(body.is_approved), by=self.by)
        return self.created(client, _with_secret(client, credentials), members=self.sent_members)

    def change(self, row: ApiClient, body: ApiClientBody) -> None:
        application, stores = self.resolved(body)
        row.application, row.name = application, body.name or ""
        with _unique(row.name):
            row.save(update_fields=["application", "name", "updated"])
            if body.external_identity is not UNSET:
                set_external_identity(row, self.identity_of(body), self.by)
        row.data_stores.set(stores)
        set_approved(row, bool(body.is_approved), by=self.by)

    def remove(self, row: ApiClient) -> None:
        remove_client(row, by=self.by)

    def reset_credential(self, request: Request, id: str) -> Response:
        """`PUT apiClients/{id}/reset-credential`"""
        with self.write_transaction():
            row = self.found(integer(id), for_update=True)
            credentials = rotate_secret(row, by=self.by)
        return Response(_with_secret(row, credentials))

    def identity_of(self, body: ApiClientBody) -> ExternalIdentity | None:
        """The external identity of a request. Raises RequestRefused for an issuer of another tenant."""
        sent = body.external_identity
        if sent is UNSET or not sent:
            return None
        tenant = issuers()[sent["issuer"]].tenant
        if tenant is not None and (self.tenant is None or tenant.casefold() != self.tenant.name.casefold()):
            raise problems.invalid_data({"ExternalIdentity.Issuer": [texts.ISSUER_OF_OTHERS]})
        return ExternalIdentity(**sent)

    def resolved(self, body: ApiClientBody) -> tuple[Application, list[DataStore]]:
        """The application and the data stores. Raises RequestRefused."""
        of_tenant = Application.objects.select_related("vendor").filter(vendor__tenant=self.tenant)
        application = of_tenant.filter(pk=body.application_id or 0).first()
        stores, missing = rows_of(DataStore, body.data_store_ids, Q(tenant=self.tenant))
        if application is None:
            raise self.missing_application(body.application_id or 0)
        if missing:
            raise self.missing_stores(missing)
        return application, stores

    def missing_application(self, number: int) -> problems.RequestRefused:
        return problems.unresolved_reference(texts.NO_APPLICATION.format(id=number))

    def missing_stores(self, numbers: list[int]) -> problems.RequestRefused:
        return problems.unresolved_reference(texts.MISSING_STORES.format(ids=", ".join(map(str, numbers))))


def _represented(identity: ExternalIdentity | None) -> dict[str, str] | None:
    return None if identity is None else {"issuer": identity.issuer, "value": identity.value}


def _with_secret(client: ApiClient, credentials: Credentials) -> dict[str, Any]:
    """The answers that have a secret."""
    return {
        "id": client.pk,
        "applicationId": client.application_id,
        "name": client.name,
        "key": credentials.key,
        "secret": credentials.secret,
    }


def _unique(name: str) -> Any:
    return write_transaction(
        {
            "client_once_per_application": problems.invalid_data({"Name": [texts.CLIENT_NAME_TAKEN.format(name=name)]}),
            "external_identity_of_one_client": problems.invalid_data({"ExternalIdentity": [texts.IDENTITY_TAKEN]}),
        }
    )
