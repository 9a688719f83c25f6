"""`v3/applications`."""

from collections.abc import Collection as Values
from dataclasses import dataclass, field
from typing import Annotated, Any

from django.contrib.postgres.expressions import ArraySubquery
from django.db.models import Exists, OuterRef, Q, QuerySet
from rest_framework.request import Request
from rest_framework.response import Response

from edfi_api.core.data_stores.models import DataStore, Tenant
from edfi_api.core.data_stores.tenants import visible_to
from edfi_api.core.queries.listing.fields import Field, FieldType
from edfi_api.core.security.clients import create_application, remove_application, rotate_secret
from edfi_api.core.security.models import ApiClient, ApiClientDataStore, Application, Vendor
from edfi_api.core.security.profiles.loading import assign_profiles
from edfi_api.core.security.profiles.models import Profile, ProfileAssignment
from edfi_api.features.management_api import problems, texts
from edfi_api.features.management_api.answer_shapes import ApplicationCredentials, DescribedAnswer
from edfi_api.features.management_api.answers import write_transaction
from edfi_api.features.management_api.bodies import (
    EACH_POSITIVE,
    NO_BLANKS,
    NOT_EMPTY,
    POSITIVE,
    Boolean,
    Integer,
    Integers,
    LongIntegers,
    ManagementBody,
    Text,
    int32,
    integer,
    name_rule,
)
from edfi_api.features.management_api.collections import Answered, Collection
from edfi_api.features.management_api.listing import EXACT, NUMBER, Listing, page, rows_of


class ApplicationBody(ManagementBody, frozen=True, kw_only=True):
    """Of a POST."""

    example = {
        "applicationName": "Roster",
        "vendorId": 1,
        "claimSetName": "EdFiSandbox",
        "educationOrganizationIds": [255901],
    }

    application_name: Annotated[Text, name_rule(256)] = None
    vendor_id: Annotated[Integer, NOT_EMPTY, POSITIVE] = None
    claim_set_name: Annotated[Text, name_rule(256, NO_BLANKS)] = None
    education_organization_ids: Annotated[LongIntegers, EACH_POSITIVE] = None
    data_store_ids: Annotated[Integers, EACH_POSITIVE] = None
    profile_ids: Annotated[Integers, EACH_POSITIVE] = None


class ApplicationChangeBody(ApplicationBody, frozen=True, kw_only=True):
    """Of a PUT."""

    example = {"id": 1, **ApplicationBody.example}

    id: Annotated[Integer, POSITIVE] = None
    application_name: Annotated[Text, name_rule(256)]
    claim_set_name: Annotated[Text, name_rule(256, NO_BLANKS)]


class _Answered(Answered, frozen=True, kw_only=True):
    enabled: Boolean = None


@dataclass(frozen=True)
class References:
    """The rows that an application refers to, and the ids of which there are none."""

    vendor: Vendor | None
    stores: list[DataStore]
    profiles: list[Profile]
    missing_stores: list[int] = field(default_factory=list)
    missing_profiles: list[int] = field(default_factory=list)


def applications_of(tenant: Tenant | None) -> QuerySet[Application]:
    """Applications of a tenant, with what `represented` needs, in one query."""
    of_application = {"api_client__application": OuterRef("pk")}
    return Application.objects.filter(vendor__tenant=tenant).annotate(
        data_store_ids=ArraySubquery(
            ApiClientDataStore.objects.filter(**of_application)
            .order_by("data_store_id")
            .distinct()
            .values("data_store_id")
        ),
        profile_ids=ArraySubquery(
            ProfileAssignment.objects.filter(application=OuterRef("pk")).order_by("profile_id").values("profile_id")
        ),
        has_disabled=Exists(ApiClient.objects.filter(application=OuterRef("pk"), is_active=False)),
    )


def represented(row: Any) -> dict[str, Any]:
    """An application of `applications_of`."""
    return {
        "id": row.pk,
        "applicationName": row.name,
        "claimSetName": row.claim_set_name,
        "vendorId": row.vendor_id,
        "educationOrganizationIds": row.education_organization_ids,
        "dataStoreIds": row.data_store_ids,
        "profileIds": row.profile_ids,
        "enabled": not row.has_disabled,
    }


def listing_of_applications(claim_set_filter: str = "claimSetName", default_limit: int | None = None) -> Listing:
    return Listing(
        order={"id": "pk", "applicationName": "name", "vendorId": "vendor_id", "claimSetName": "claim_set_name"},
        filters=(
            Field("id", "pk", NUMBER),
            Field("ids", "pk__in", FieldType(_integers, texts.NO_IDS)),
            Field("applicationName", "name", EXACT),
            Field(claim_set_filter, "claim_set_name", EXACT),
        ),
        default_limit=default_limit,
    )


def _integers(text: str) -> Values[int]:
    return [int32(each.strip()) for each in text.split(",")]


class Applications(Collection):
    """Applications with their claim set, organizations, data stores and profiles."""

    address = "applications"
    noun = "application"
    bodies = {"create": ApplicationBody, "update": ApplicationChangeBody}
    listing = listing_of_applications()
    answered = _Answered
    answers = {
        "create": DescribedAnswer(201, ApplicationCredentials),
        "reset_credential": DescribedAnswer(200, ApplicationCredentials),
    }

    def rows(self) -> QuerySet[Application]:
        return applications_of(self.tenant)

    def represent(self, row: Application) -> dict[str, Any]:
        return represented(row)

    def list(self, request: Request, **_: str) -> Response:
        if request.query_params.get("id") and request.query_params.get("ids"):
            raise problems.invalid_parameters([texts.ID_AND_IDS])
        return super().list(request)

    def add(self, body: ApplicationBody) -> Response:
        row = Application()
        references = self.resolved(body)
        self._assign(row, body)
        with self.uniquely_named(row.name):
            credentials = create_application(row, [store.pk for store in references.stores], by=self.by)
        self._assign_profiles(row, references)
        answer = {"id": row.pk, "key": credentials.key, "secret": credentials.secret}
        return self.created(row, answer, members=self.sent_members)

    def change(self, row: Application, body: ApplicationBody) -> None:
        references = self.resolved(body)
        self._assign(row, body)
        with self.uniquely_named(row.name):
            row.save(update_fields=["vendor", "name", "claim_set_name", "education_organization_ids"])
        self._assign_profiles(row, references)
        if first := row.api_clients.order_by("pk").first():
            first.data_stores.set(references.stores)

    def remove(self, row: Application) -> None:
        remove_application(row, by=self.by)

    def reset_credential(self, request: Request, id: str) -> Response:
        """`PUT applications/{id}/reset-credential`: a new secret for the first client."""
        with self.write_transaction():
            row = self.found(id, for_update=True)
            client = row.api_clients.order_by("pk").first()
            if client is None:
                raise problems.not_found(texts.NOT_FOUND["apiClients"])
            credentials = rotate_secret(client, by=self.by)
        return Response({"id": row.pk, "key": credentials.key, "secret": credentials.secret})

    def of_data_store(self, request: Request, id: str) -> Response:
        """`GET dataStores/{id}/applications`"""
        store = DataStore.objects.filter(tenant=self.tenant, pk=integer(id)).first()
        if store is None:
            raise self.missing_store(integer(id))
        rows = self.rows().filter(api_clients__data_stores=store).distinct()
        unfiltered = Listing(order={}, default_limit=self.listing.default_limit)
        return self.listed(page(unfiltered, rows, request.query_params))

    def missing_store(self, number: int) -> problems.RequestRefused:
        """The refusal of a data store in the address that does not exist."""
        return problems.not_found(texts.NOT_FOUND["dataStores"].format(id=number))

    def uniquely_named(self, name: str) -> Any:
        """A transaction in which the name is not that of another application of the vendor."""
        taken = problems.invalid_data({"ApplicationName": [texts.APPLICATION_TAKEN.format(name=name)]})
        return write_transaction({"application_once_per_vendor": taken})

    def resolved(self, body: ApplicationBody) -> References:
        """What the body refers to. Raises RequestRefused."""
        vendor = Vendor.objects.filter(tenant=self.tenant, pk=body.vendor_id or 0).first()
        stores, no_stores = rows_of(DataStore, body.data_store_ids, Q(tenant=self.tenant))
        profiles, no_profiles = rows_of(Profile, body.profile_ids, visible_to(self.tenant))
        references = References(vendor, stores, profiles, no_stores, no_profiles)
        self.refuse_missing(references, body)
        return references

    def refuse_missing(self, references: References, body: ApplicationBody) -> None:
        """Raise RequestRefused if something that the body refers to does not exist."""
        if references.vendor is None:
            raise problems.unresolved_reference(texts.NO_REFERENCE.format(name="VendorId"))
        if references.missing_stores:
            raise problems.unresolved_reference(texts.NO_STORE)
        if references.missing_profiles:
            raise problems.unresolved_reference(texts.NO_PROFILE)

    def _assign(self, row: Application, body: ApplicationBody) -> None:
        row.vendor_id = body.vendor_id or 0
        row.name = body.application_name or ""
        row.claim_set_name = body.claim_set_name or ""
        row.education_organization_ids = list(dict.fromkeys(body.education_organization_ids or ()))

    def _assign_profiles(self, row: Application, references: References) -> None:
        if references.vendor is not None:
            row.vendor = references.vendor
        if references.profiles or ProfileAssignment.objects.filter(application=row).exists():
            assign_profiles(row, [profile.name for profile in references.profiles], by=self.by)
