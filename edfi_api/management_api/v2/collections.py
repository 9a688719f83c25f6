"""Vendors, applications, clients and profiles in the shapes of Admin API 2."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from django.db.models import Q, QuerySet
from rest_framework.request import Request
from rest_framework.response import Response

from edfi_api.data_stores.models import DataStore
from edfi_api.data_stores.tenants import visible_to
from edfi_api.profiles.models import Profile
from edfi_api.security.clients import set_approved
from edfi_api.security.models import ApiClient, Application, ClaimSet, Vendor

from .. import problems
from ..collections import Collection
from ..listing import DEFAULT_LIMITS, Listing, rows_of
from ..members import (
    EACH_POSITIVE,
    EMAIL,
    NOT_EMPTY,
    ONE_LINE,
    POSITIVE,
    Finding,
    Kind,
    Member,
    Rule,
    ids,
    name,
    says,
)
from ..v3.api_clients import ApiClients
from ..v3.applications import BLANKS, Applications, References, listing_of_applications, represented
from ..v3.profiles import Profiles
from ..v3.vendors import LONGEST_PREFIX, TAKEN, Vendors, assign, prefixes

DEFAULT_LIMIT = DEFAULT_LIMITS["v2"]


class Version2(Collection):
    """What all collections of version 2 have in common: a PUT has no id in its body, and its answer is 200."""

    version = "v2"
    # What answers call an item that was deleted.
    title = ""

    def id_of_body(self, number: int) -> int | None:
        return None

    def changed(self) -> Response:
        return Response(status=200)

    def removed(self) -> Response:
        return Response({"title": f"{self.title} deleted successfully"})


def paged(listing: Listing) -> Listing:
    """With the default limit of version 2."""
    return replace(listing, default_limit=DEFAULT_LIMIT)


def missing_text(what: str) -> str:
    return f"Not found: {what} with ID {{id}}. It may have been recently deleted."


def _long_prefixes(member: Member, value: str | None) -> Iterator[Finding]:
    for prefix in prefixes(value):
        if len(prefix) > LONGEST_PREFIX:
            yield member.key, f"'{prefix}' exceeds maximum length"


class VendorsV2(Version2, Vendors):
    """A POST of a company that exists is refused."""

    title = "Vendor"
    missing = missing_text("vendor")
    shape = (
        name("company", 256),
        Member("namespacePrefixes", rules=(Rule(_long_prefixes), ONE_LINE)),
        name("contactName", 128),
        name("contactEmailAddress", 320, EMAIL),
    )
    shape_of_put = shape
    listing = paged(Vendors.listing)
    refusals = {"vendor_once_per_tenant": problems.invalid_data({"Company": [TAKEN]})}

    def add(self, values: dict[str, Any]) -> Response:
        row = Vendor(tenant=self.tenant)
        assign(row, values)
        row.save(force_insert=True)
        return self.created(row, members=",".join(values))

    def applications(self, request: Request, id: str) -> Response:
        answer = super().applications(request, id)
        answer.data = [_with_instances(row) for row in answer.data]
        return answer


_NO_VENDOR = "Please provide valid vendor id."
_NO_CLAIM_SET = "No such claim set exists in the database."
_ORGANIZATIONS = says("Please provide at least one education organization id.", lambda value: not value)
_INSTANCES = says("Please provide at least one ods instance id.", lambda value: not value)


def _with_instances(row: dict[str, Any]) -> dict[str, Any]:
    found = {("odsInstanceIds" if key == "dataStoreIds" else key): value for key, value in row.items()}
    order = ("id", "applicationName", "claimSetName", "educationOrganizationIds", "vendorId", "profileIds")
    return {key: found[key] for key in (*order, "odsInstanceIds", "enabled")}


class ApplicationsV2(Version2, Applications):
    """Applications; what they refer to has to exist, their claim set too."""

    title = "Application"
    missing = missing_text("application")
    missing_store = missing_text("odsInstance")
    shape = (
        name("applicationName", 256),
        Member("vendorId", Kind.INTEGER, (POSITIVE,)),
        name("claimSetName", 256, BLANKS),
        ids("profileIds"),
        ids("educationOrganizationIds", Kind.LONG_INTEGERS, _ORGANIZATIONS),
        ids("odsInstanceIds", Kind.INTEGERS, _INSTANCES),
        Member("enabled", Kind.BOOLEAN, absent=True),
    )
    shape_of_put = shape
    listing = listing_of_applications("claimsetName", DEFAULT_LIMIT)

    def represent(self, row: Application) -> dict[str, Any]:
        return _with_instances(represented(row))

    def add(self, values: dict[str, Any]) -> Response:
        answer = super().add(_with_stores(values))
        self._enable(answer.data["id"], values["enabled"])
        return answer

    def change(self, row: Application, values: dict[str, Any]) -> None:
        super().change(row, _with_stores(values))
        self._enable(row.pk, values["enabled"])

    def resolved(self, values: dict[str, Any]) -> References:
        vendor = Vendor.objects.filter(tenant=self.tenant, pk=values["vendorId"]).first()
        claim_set = ClaimSet.objects.filter(visible_to(self.tenant), name__iexact=values["claimSetName"])
        stores, no_stores = rows_of(DataStore, values["dataStoreIds"], of_tenant(self))
        profiles, no_profiles = rows_of(Profile, values["profileIds"], visible_to(self.tenant))
        errors = {
            "VendorId": [] if vendor else [_NO_VENDOR],
            "ClaimSetName": [] if claim_set.exists() else [_NO_CLAIM_SET],
            "OdsInstanceIds": no_instances(no_stores),
            "ProfileIds": [f"Please provide valid profile id. The id {each} does not exist." for each in no_profiles],
        }
        if vendor is None or any(errors.values()):
            raise problems.invalid_data({key: texts for key, texts in errors.items() if texts})
        return References(vendor, stores, profiles)

    def _enable(self, number: int, is_enabled: bool) -> None:
        for client in ApiClient.objects.filter(application=number):
            set_approved(client, is_enabled, by=self.by)


def _with_stores(values: dict[str, Any]) -> dict[str, Any]:
    return values | {"dataStoreIds": values["odsInstanceIds"]}


def of_tenant(collection: Version2) -> Q:
    """The rows of the tenant of the request."""
    return Q(tenant=collection.tenant)


def no_instances(numbers: list[int]) -> list[str]:
    return [f"Please provide valid ods instance id. The id {each} does not exist." for each in numbers]


class ApiClientsV2(Version2, ApiClients):
    """Clients by number; there are no sandboxes."""

    address = "apiclients"
    title = "ApiClient"
    missing = missing_text("apiclient")
    shape = (
        name("name", 50),
        Member("isApproved", Kind.BOOLEAN),
        Member("applicationId", Kind.INTEGER, (NOT_EMPTY, POSITIVE)),
        Member("odsInstanceIds", Kind.INTEGERS, (_INSTANCES, EACH_POSITIVE)),
    )
    shape_of_put = shape
    listing = paged(ApiClients.listing)

    def rows(self) -> QuerySet[ApiClient]:
        return super().rows().select_related("application")

    def represent(self, row: Any) -> dict[str, Any]:
        return {
            "id": row.pk,
            "key": row.client_id,
            "name": row.name,
            "isApproved": row.is_active,
            "useSandbox": False,
            "sandboxType": 0,
            "applicationId": row.application_id,
            "keyStatus": "Active" if row.is_active else "Inactive",
            "educationOrganizationIds": row.application.education_organization_ids,
            "odsInstanceIds": row.data_store_ids,
        }

    def retrieve(self, request: Request, id: str) -> Response:
        return Response(self.represent(self.found(id)))

    def resolved(self, values: dict[str, Any]) -> tuple[Application, list[DataStore]]:
        of_tenant_ = Application.objects.select_related("vendor").filter(vendor__tenant=self.tenant)
        application = of_tenant_.filter(pk=values["applicationId"]).first()
        stores, missing_stores = rows_of(DataStore, values["odsInstanceIds"], of_tenant(self))
        if application is None:
            raise problems.invalid_data({"ApplicationId": ["Please provide valid application id."]})
        if missing_stores:
            raise problems.invalid_data({"OdsInstanceIds": no_instances(missing_stores)})
        return application, stores


class ProfilesV2(Version2, Profiles):
    """Profiles have the same shapes."""

    title = "Profile"
    missing = missing_text("profile")
    shape_of_put = Profiles.shape
    listing = paged(Profiles.listing)
