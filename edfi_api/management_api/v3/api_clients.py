"""`v3/apiClients`."""

from collections.abc import Iterator
from typing import Any, ClassVar

from django.contrib.postgres.expressions import ArraySubquery
from django.core.exceptions import ValidationError
from django.db.models import OuterRef, Q, QuerySet
from rest_framework.request import Request
from rest_framework.response import Response

from edfi_api.data_stores.models import DataStore
from edfi_api.security.clients import (
    Credentials,
    remove_client,
    rotate_secret,
    set_approved,
    set_external_identity,
    store_client,
)
from edfi_api.security.federation.issuers import issuers
from edfi_api.security.federation.models import ExternalIdentity
from edfi_api.security.models import ApiClient, ApiClientDataStore, Application

from .. import problems
from ..bodies import integer
from ..collections import Collection, id_member
from ..constraints import written
from ..listing import Listing, number, rows_of
from ..members import EACH_POSITIVE, NOT_EMPTY, POSITIVE, Finding, Kind, Member, Rule, Shape, name, says

# The member is absent, so that the identity stays what it is: programs for Ed-Fi's own server do not know it.
_KEPT: dict[str, Any] = {"issuer": "", "value": ""}


def _identity_findings(member: Member, value: dict[str, Any]) -> Iterator[Finding]:
    if value is _KEPT or not value:
        return
    if set(value) != {"issuer", "value"} or not all(
        isinstance(each, str) and "\0" not in each for each in value.values()
    ):
        yield member.key, f"'{member.words}' must have an issuer and a value."
        return
    try:
        ExternalIdentity(**value).full_clean(exclude={"api_client"}, validate_constraints=False)
    except ValidationError as error:
        yield from (
            (f"{member.key}.{field.title()}", text) for field, texts in error.message_dict.items() for text in texts
        )


_IDENTITY = Member("externalIdentity", Kind.OBJECT, (Rule(_identity_findings),), absent=_KEPT)
_NO_STORES = says("DataStoreIds cannot be empty. At least one Data Store is required.", lambda value: not value)


class ApiClients(Collection):
    """Clients of applications. The item is found by its key, and changed by its number."""

    address = "apiClients"
    noun = "API client"
    missing = "ApiClient not found"
    metadata_actions = frozenset({"list", "retrieve"})
    shape: ClassVar[Shape] = (
        Member("applicationId", Kind.INTEGER, (NOT_EMPTY, POSITIVE), is_required=True),
        name("name", 50, is_required=True),
        Member("isApproved", Kind.BOOLEAN, is_required=True),
        Member("dataStoreIds", Kind.INTEGERS, (_NO_STORES, EACH_POSITIVE)),
        _IDENTITY,
    )
    shape_of_put: ClassVar[Shape] = (id_member("Id must be greater than 0."), *shape)
    listing = Listing(
        order={"id": "pk", "applicationId": "application_id", "name": "name"},
        filters={"applicationid": number("application_id")},
    )

    answered = (Member("clientId"), Member("clientUuid"))

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
            raise problems.not_found(self.missing)
        return Response(self.represent(row))

    def add(self, values: dict[str, Any]) -> Response:
        application, stores = self.resolved(values)
        with _unique(values["name"]):
            client = ApiClient(name=values["name"])
            credentials = store_client(client, application, self.by, self.identity_of(values))
        client.data_stores.set(stores)
        set_approved(client, values["isApproved"], by=self.by)
        return self.created(client, _with_secret(client, credentials), members=",".join(values))

    def change(self, row: ApiClient, values: dict[str, Any]) -> None:
        application, stores = self.resolved(values)
        row.application, row.name = application, values["name"]
        with _unique(values["name"]):
            row.save(update_fields=["application", "name", "updated"])
            if values.get("externalIdentity", _KEPT) is not _KEPT:
                set_external_identity(row, self.identity_of(values), self.by)
        row.data_stores.set(stores)
        set_approved(row, values["isApproved"], by=self.by)

    def remove(self, row: ApiClient) -> None:
        remove_client(row, by=self.by)

    def reset_credential(self, request: Request, id: str) -> Response:
        """`PUT apiClients/{id}/reset-credential`"""
        with self.written():
            row = self.found(integer(id), for_update=True)
            credentials = rotate_secret(row, by=self.by)
        return Response(_with_secret(row, credentials))

    def identity_of(self, values: dict[str, Any]) -> ExternalIdentity | None:
        """The external identity of a request. Raises a Refusal for an issuer of another tenant."""
        sent = values.get("externalIdentity", _KEPT)
        if sent is _KEPT or not sent:
            return None
        tenant = issuers()[sent["issuer"]].tenant
        if tenant is not None and (self.tenant is None or tenant.casefold() != self.tenant.name.casefold()):
            raise problems.invalid_data({"ExternalIdentity.Issuer": ["It is an issuer of another tenant."]})
        return ExternalIdentity(**sent)

    def resolved(self, values: dict[str, Any]) -> tuple[Application, list[DataStore]]:
        """The application and the data stores. Raises a Refusal."""
        of_tenant = Application.objects.select_related("vendor").filter(vendor__tenant=self.tenant)
        application = of_tenant.filter(pk=values["applicationId"]).first()
        if application is None:
            raise problems.unresolved_reference(f"Application with ID {values['applicationId']} not found.")
        stores, missing = rows_of(DataStore, values["dataStoreIds"], Q(tenant=self.tenant))
        if missing:
            ids = ", ".join(map(str, missing))
            raise problems.unresolved_reference(f"The following DataStoreIds were not found in database: {ids}")
        return application, stores


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
    taken = f"API client '{name}' already exists for application."
    has_other = "Another API client has this external identity."
    return written(
        {
            "client_once_per_application": problems.invalid_data({"Name": [taken]}),
            "external_identity_of_one_client": problems.invalid_data({"ExternalIdentity": [has_other]}),
        }
    )
