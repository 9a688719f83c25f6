"""Vendors, applications, clients and profiles in the shapes of Admin API 2."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Annotated, Any, ClassVar

from django.db.models import QuerySet
from rest_framework.request import Request
from rest_framework.response import Response

from edfi_api.core.data_stores.tenants import visible_to
from edfi_api.core.security.clients import set_approved
from edfi_api.core.security.models import ApiClient, Application, ClaimSet, Vendor
from edfi_api.features.management_api import problems, texts
from edfi_api.features.management_api.answer_shapes import DescribedAnswer, RemovedItem
from edfi_api.features.management_api.bodies import (
    EACH_POSITIVE,
    EMAIL,
    NO_BLANKS,
    NOT_EMPTY,
    ONE_LINE,
    POSITIVE,
    BodyMember,
    BodyRule,
    Boolean,
    Finding,
    Integer,
    Integers,
    LongIntegers,
    ManagementBody,
    Text,
    name_rule,
    rule,
)
from edfi_api.features.management_api.collections import Collection
from edfi_api.features.management_api.listing import DEFAULT_LIMITS, Listing
from edfi_api.features.management_api.v3.api_clients import ApiClientBody, ApiClients
from edfi_api.features.management_api.v3.applications import (
    ApplicationBody,
    Applications,
    References,
    listing_of_applications,
)
from edfi_api.features.management_api.v3.profiles import ProfileBody, Profiles
from edfi_api.features.management_api.v3.vendors import LONGEST_PREFIX, VendorBody, Vendors, prefixes

DEFAULT_LIMIT = DEFAULT_LIMITS["v2"]


class Version2(Collection):
    """What all collections of version 2 have in common: a PUT has no id in its body, and its answer is 200. `singular`
    is what texts call an item that does not exist, `title` one that was deleted."""

    version = "v2"
    singular: ClassVar[str] = ""
    title: ClassVar[str] = ""
    answers = {"destroy": DescribedAnswer(200, RemovedItem)}

    def read(self, number: int | None = None) -> Any:
        body: ManagementBody = super().read()
        return body.translated()

    def missing(self, number: int | None = None) -> problems.RequestRefused:
        return missing(self.singular, number)

    def changed(self) -> Response:
        return Response(status=200)

    def removed(self) -> Response:
        return Response({"title": texts.V2.DELETED.format(noun=self.title)})


def missing(singular: str, number: int | str | None) -> problems.RequestRefused:
    """The refusal of an item that does not exist."""
    return problems.not_found(texts.V2.NOT_FOUND.format(noun=singular).format(id=number))


def paged(listing: Listing) -> Listing:
    """With the default limit of version 2."""
    return replace(listing, default_limit=DEFAULT_LIMIT)


def renamed(item: dict[str, Any], names: dict[str, str]) -> dict[str, Any]:
    """An item with other names of members: `names` has those of version 2 by those of version 3."""
    return {names.get(key, key): value for key, value in item.items()}


def no_instances(numbers: list[int]) -> list[str]:
    """The texts about data stores that do not exist."""
    return [texts.V2.NO_INSTANCE.format(id=each) for each in numbers]


def _long_prefixes(member: BodyMember, value: str | None) -> Iterator[Finding]:
    for prefix in prefixes(value):
        if len(prefix) > LONGEST_PREFIX:
            yield member.key, texts.V2.LONG_PREFIX.format(prefix=prefix)


class VendorBodyV2(ManagementBody, frozen=True, kw_only=True):
    """Of POST and PUT."""

    example = VendorBody.example

    company: Annotated[Text, name_rule(256)] = None
    namespace_prefixes: Annotated[Text, BodyRule(_long_prefixes), ONE_LINE] = None
    contact_name: Annotated[Text, name_rule(128)] = None
    contact_email_address: Annotated[Text, name_rule(320, EMAIL)] = None

    def translated(self) -> VendorBody:
        return VendorBody(
            company=self.company,
            contact_name=self.contact_name,
            contact_email_address=self.contact_email_address,
            namespace_prefixes=self.namespace_prefixes,
        )


class VendorsV2(Version2, Vendors):
    """A POST of a company that exists is refused."""

    singular = "vendor"
    title = "Vendor"
    bodies = {"create": VendorBodyV2, "update": VendorBodyV2}
    listing = paged(Vendors.listing)
    refusals = {"vendor_once_per_tenant": problems.invalid_data({"Company": [texts.VENDOR_TAKEN]})}

    def add(self, body: VendorBody) -> Response:
        row = Vendor.objects.create(tenant=self.tenant, name=body.company or "", **body.columns)
        return self.created(row, members=self.sent_members)

    def applications(self, request: Request, id: str) -> Response:
        answer = super().applications(request, id)
        answer.data = [_with_instances(row) for row in answer.data]
        return answer


_HAS_ORGANIZATIONS = rule(lambda value: not value, texts.V2.NO_ORGANIZATIONS)
_HAS_INSTANCES = rule(lambda value: not value, texts.V2.NO_INSTANCES)
_ORDER = (
    "id", "applicationName", "claimSetName", "educationOrganizationIds", "vendorId", "profileIds", "odsInstanceIds",
    "enabled",
)  # fmt: skip


def _with_instances(item: dict[str, Any]) -> dict[str, Any]:
    found = renamed(item, {"dataStoreIds": "odsInstanceIds"})
    return {key: found[key] for key in _ORDER}


class ApplicationBodyV2(ManagementBody, frozen=True, kw_only=True):
    """Of POST and PUT. `enabled` sets all clients."""

    example = {**ApplicationBody.example, "odsInstanceIds": [1]}

    application_name: Annotated[Text, name_rule(256)] = None
    vendor_id: Annotated[Integer, POSITIVE] = None
    claim_set_name: Annotated[Text, name_rule(256, NO_BLANKS)] = None
    profile_ids: Annotated[Integers, EACH_POSITIVE] = None
    education_organization_ids: Annotated[LongIntegers, _HAS_ORGANIZATIONS, EACH_POSITIVE] = None
    ods_instance_ids: Annotated[Integers, _HAS_INSTANCES, EACH_POSITIVE] = None
    enabled: Boolean = True

    def translated(self) -> ApplicationBody:
        return ApplicationBody(
            application_name=self.application_name,
            vendor_id=self.vendor_id,
            claim_set_name=self.claim_set_name,
            education_organization_ids=self.education_organization_ids,
            data_store_ids=self.ods_instance_ids,
            profile_ids=self.profile_ids,
        )


class ApplicationsV2(Version2, Applications):
    """Applications; what they refer to has to exist, their claim set too."""

    singular = "application"
    title = "Application"
    bodies = {"create": ApplicationBodyV2, "update": ApplicationBodyV2}
    listing = listing_of_applications("claimsetName", DEFAULT_LIMIT)
    sent: ApplicationBodyV2

    def represent(self, row: Application) -> dict[str, Any]:
        return _with_instances(super().represent(row))

    def add(self, body: ApplicationBody) -> Response:
        answer = super().add(body)
        self._enable(answer.data["id"])
        return answer

    def change(self, row: Application, body: ApplicationBody) -> None:
        super().change(row, body)
        self._enable(row.pk)

    def missing_store(self, number: int) -> problems.RequestRefused:
        return missing("odsInstance", number)

    def refuse_missing(self, references: References, body: ApplicationBody) -> None:
        claim_set = ClaimSet.objects.filter(visible_to(self.tenant), name__iexact=body.claim_set_name or "")
        errors = {
            "VendorId": [] if references.vendor else [texts.V2.NO_VENDOR],
            "ClaimSetName": [] if claim_set.exists() else [texts.V2.NO_CLAIM_SET],
            "OdsInstanceIds": no_instances(references.missing_stores),
            "ProfileIds": [texts.V2.NO_PROFILE.format(id=each) for each in references.missing_profiles],
        }
        if any(errors.values()):
            raise problems.invalid_data({key: found for key, found in errors.items() if found})

    def _enable(self, number: int) -> None:
        for client in ApiClient.objects.filter(application=number):
            set_approved(client, bool(self.sent.enabled), by=self.by)


class ApiClientBodyV2(ManagementBody, frozen=True, kw_only=True):
    """Of POST and PUT."""

    example = {"name": "Roster of 2027", "isApproved": True, "applicationId": 1, "odsInstanceIds": [1]}

    name: Annotated[Text, name_rule(50)] = None
    is_approved: Boolean = None
    application_id: Annotated[Integer, NOT_EMPTY, POSITIVE] = None
    ods_instance_ids: Annotated[Integers, _HAS_INSTANCES, EACH_POSITIVE] = None

    def translated(self) -> ApiClientBody:
        return ApiClientBody(
            name=self.name,
            is_approved=self.is_approved,
            application_id=self.application_id,
            data_store_ids=self.ods_instance_ids,
        )


class ApiClientsV2(Version2, ApiClients):
    """Clients by number; there are no sandboxes."""

    address = "apiclients"
    singular = "apiclient"
    title = "ApiClient"
    bodies = {"create": ApiClientBodyV2, "update": ApiClientBodyV2}
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

    def missing_application(self, number: int) -> problems.RequestRefused:
        return problems.invalid_data({"ApplicationId": [texts.V2.NO_APPLICATION]})

    def missing_stores(self, numbers: list[int]) -> problems.RequestRefused:
        return problems.invalid_data({"OdsInstanceIds": no_instances(numbers)})


class ProfilesV2(Version2, Profiles):
    """Profiles have the same shapes."""

    singular = "profile"
    title = "Profile"
    bodies = {"create": ProfileBody, "update": ProfileBody}
    listing = paged(Profiles.listing)
