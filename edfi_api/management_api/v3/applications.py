"""`v3/applications`."""

from typing import Any, ClassVar

from django.contrib.postgres.expressions import ArraySubquery
from django.db.models import Exists, OuterRef, Q, QuerySet
from rest_framework.request import Request
from rest_framework.response import Response

from edfi_api.data_stores.models import DataStore, Tenant
from edfi_api.data_stores.tenants import visible_to
from edfi_api.profiles.loading import assign_profiles
from edfi_api.profiles.models import Profile, ProfileAssignment
from edfi_api.security.clients import create_application, remove_application, rotate_secret
from edfi_api.security.models import ApiClient, ApiClientDataStore, Application, Vendor

from .. import problems
from ..bodies import integer
from ..collections import Collection
from ..constraints import written
from ..listing import Listing, exactly, number, page, rows_of
from ..members import NOT_EMPTY, POSITIVE, Kind, Member, Shape, ids, name, says

BLANKS = says("Claim set name must not contain white spaces.", lambda value: any(c.isspace() for c in value or ""))
NO_STORE = "Data store does not exist."
NO_PROFILE = "Profile does not exist."
NO_VENDOR = "Reference 'VendorId' does not exist."
_NO_VENDOR_ID = Member("vendorId", Kind.INTEGER, (NOT_EMPTY, POSITIVE))


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
        filters={
            "id": number("pk"),
            "ids": _one_of,
            "applicationName": exactly("name"),
            claim_set_filter: exactly("claim_set_name"),
        },
        default_limit=default_limit,
    )


def _one_of(value: str) -> Q:
    try:
        return Q(pk__in=[integer(each.strip()) for each in value.split(",")])
    except problems.Refusal:
        raise problems.invalid_parameters(
            ["The 'ids' query parameter must be a comma-separated list of integers."]
        ) from None


class Applications(Collection):
    """Applications with their claim set, organizations, data stores and profiles."""

    address = "applications"
    noun = "application"
    missing = "Application not found"
    shape: ClassVar[Shape] = (
        name("applicationName", 256),
        _NO_VENDOR_ID,
        name("claimSetName", 256, BLANKS),
        ids("educationOrganizationIds", Kind.LONG_INTEGERS),
        ids("dataStoreIds"),
        ids("profileIds"),
    )
    shape_of_put: ClassVar[Shape] = (
        Member("id", Kind.INTEGER, (POSITIVE,)),
        name("applicationName", 256, is_required=True),
        _NO_VENDOR_ID,
        name("claimSetName", 256, BLANKS, is_required=True),
        *shape[3:],
    )
    listing = listing_of_applications()
    answered = (Member("enabled", Kind.BOOLEAN),)

    def rows(self) -> QuerySet[Application]:
        return applications_of(self.tenant)

    def represent(self, row: Application) -> dict[str, Any]:
        return represented(row)

    def list(self, request: Request, **_: str) -> Response:
        if request.query_params.get("id") and request.query_params.get("ids"):
            raise problems.invalid_parameters(["'id' and 'ids' cannot be used together."])
        return super().list(request)

    def add(self, values: dict[str, Any]) -> Response:
        row = Application()
        references = self.resolved(values)
        self._assign(row, values)
        with self.uniquely_named(values["applicationName"]):
            credentials = create_application(row, [store.pk for store in references.stores], by=self.by)
        self._bind(row, references)
        body = {"id": row.pk, "key": credentials.key, "secret": credentials.secret}
        return self.created(row, body, members=",".join(values))

    def change(self, row: Application, values: dict[str, Any]) -> None:
        references = self.resolved(values)
        self._assign(row, values)
        with self.uniquely_named(values["applicationName"]):
            row.save(update_fields=["vendor", "name", "claim_set_name", "education_organization_ids"])
        self._bind(row, references)
        if first := row.api_clients.order_by("pk").first():
            first.data_stores.set(references.stores)

    def remove(self, row: Application) -> None:
        remove_application(row, by=self.by)

    def reset_credential(self, request: Request, id: str) -> Response:
        """`PUT applications/{id}/reset-credential`: a new secret for the first client."""
        with self.written():
            row = self.found(id, for_update=True)
            client = row.api_clients.order_by("pk").first()
            if client is None:
                raise problems.not_found("ApiClient not found")
            credentials = rotate_secret(client, by=self.by)
        return Response({"id": row.pk, "key": credentials.key, "secret": credentials.secret})

    def of_data_store(self, request: Request, id: str) -> Response:
        """`GET dataStores/{id}/applications`"""
        store = DataStore.objects.filter(tenant=self.tenant, pk=integer(id)).first()
        if store is None:
            raise problems.not_found(self.missing_store.format(id=integer(id)))
        rows = self.rows().filter(api_clients__data_stores=store).distinct()
        unfiltered = Listing(order={}, default_limit=self.listing.default_limit)
        return self.listed(page(unfiltered, rows, request.query_params))

    missing_store = "DataStore {id} not found. It may have been recently deleted."

    def uniquely_named(self, name: str) -> Any:
        """A transaction in which the name is not that of another application of the vendor."""
        taken = problems.invalid_data({"ApplicationName": [f"Application '{name}' already exists for vendor."]})
        return written({"application_once_per_vendor": taken})

    def resolved(self, values: dict[str, Any]) -> "References":
        """What the values refer to. Raises a Refusal."""
        vendor = Vendor.objects.filter(tenant=self.tenant, pk=values["vendorId"]).first()
        if vendor is None:
            raise problems.unresolved_reference(NO_VENDOR)
        stores, no_stores = rows_of(DataStore, values["dataStoreIds"], Q(tenant=self.tenant))
        if no_stores:
            raise problems.unresolved_reference(NO_STORE)
        profiles, no_profiles = rows_of(Profile, values["profileIds"], visible_to(self.tenant))
        if no_profiles:
            raise problems.unresolved_reference(NO_PROFILE)
        return References(vendor, stores, profiles)

    def _assign(self, row: Application, values: dict[str, Any]) -> None:
        row.vendor_id = values["vendorId"]
        row.name = values["applicationName"]
        row.claim_set_name = values["claimSetName"]
        row.education_organization_ids = list(dict.fromkeys(values["educationOrganizationIds"]))

    def _bind(self, row: Application, references: "References") -> None:
        row.vendor = references.vendor
        if references.profiles or ProfileAssignment.objects.filter(application=row).exists():
            assign_profiles(row, [profile.name for profile in references.profiles], by=self.by)


class References:
    """The rows that an application refers to."""

    def __init__(self, vendor: Vendor, stores: list[DataStore], profiles: list[Profile]) -> None:
        self.vendor = vendor
        self.stores = stores
        self.profiles = profiles
