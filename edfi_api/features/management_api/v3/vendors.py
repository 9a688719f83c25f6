"""`v3/vendors`."""

from typing import Annotated, Any

from django.db.models import QuerySet
from rest_framework.request import Request
from rest_framework.response import Response

from edfi_api.core.queries.listing.fields import Field, FieldType
from edfi_api.core.security.clients import remove_application
from edfi_api.core.security.models import Application, Vendor
from edfi_api.features.management_api import problems, texts
from edfi_api.features.management_api.bodies import (
    EMAIL,
    NOT_EMPTY,
    ONE_LINE,
    Integer,
    ManagementBody,
    Text,
    at_most,
    name_rule,
    rule,
)
from edfi_api.features.management_api.collections import Collection
from edfi_api.features.management_api.listing import EXACT, NUMBER, Listing
from edfi_api.features.management_api.v3.applications import applications_of, represented

LONGEST_PREFIX = 128


def prefixes(text: str | None) -> list[str]:
    """Those of a text, separated by commas."""
    return [each.strip() for each in (text or "").split(",") if each.strip()]


def _has_long_prefix(text: str | None) -> bool:
    return any(len(each) > LONGEST_PREFIX for each in prefixes(text))


_NO_LONG_PREFIX = rule(_has_long_prefix, texts.LONG_PREFIX.replace("{most}", str(LONGEST_PREFIX)))


class VendorBody(ManagementBody, frozen=True, kw_only=True):
    """Of a POST."""

    example = {
        "company": "Lakeside SIS",
        "contactName": "Mae Ortiz",
        "contactEmailAddress": "mae@lakeside.example",
        "namespacePrefixes": "uri://lakeside.example",
    }

    company: Annotated[Text, name_rule(256)] = None
    contact_name: Annotated[Text, name_rule(128)] = None
    contact_email_address: Annotated[Text, name_rule(320, EMAIL)] = None
    namespace_prefixes: Annotated[Text, NOT_EMPTY, _NO_LONG_PREFIX, ONE_LINE] = None

    @property
    def columns(self) -> dict[str, Any]:
        """The columns of a vendor, but for its name."""
        return {
            "contact_name": self.contact_name or "",
            "contact_email": self.contact_email_address or "",
            "namespace_prefixes": prefixes(self.namespace_prefixes),
        }


class VendorChangeBody(VendorBody, frozen=True, kw_only=True):
    """Of a PUT, which may omit the contact."""

    example = {"id": 1, **VendorBody.example}

    id: Integer = None
    contact_name: Annotated[Text, at_most(128), ONE_LINE] = None
    contact_email_address: Annotated[Text, EMAIL, at_most(320), ONE_LINE] = None


class Vendors(Collection):
    """Vendors with their namespace prefixes."""

    address = "vendors"
    noun = "vendor"
    post_changes_existing = True
    bodies = {"create": VendorBody, "update": VendorChangeBody}
    listing = Listing(
        order={
            "id": "pk",
            "company": "name",
            "contactName": "contact_name",
            "contactEmailAddress": "contact_email",
        },
        filters=(
            Field("id", "pk", NUMBER),
            Field("company", "name", EXACT),
            Field("namespacePrefixes", "namespace_prefixes__contains", FieldType(lambda text: [EXACT.read(text)])),
            Field("contactName", "contact_name", EXACT),
            Field("contactEmailAddress", "contact_email", EXACT),
        ),
    )
    refusals = {"vendor_once_per_tenant": problems.invalid_data({"Name": [texts.VENDOR_TAKEN]})}

    def rows(self) -> QuerySet[Vendor]:
        return Vendor.objects.filter(tenant=self.tenant)

    def represent(self, row: Vendor) -> dict[str, Any]:
        return {
            "id": row.pk,
            "company": row.name,
            "contactName": row.contact_name,
            "contactEmailAddress": row.contact_email,
            "namespacePrefixes": ",".join(row.namespace_prefixes),
        }

    def add(self, body: VendorBody) -> Response:
        row, is_new = Vendor.objects.update_or_create(tenant=self.tenant, name=body.company, defaults=body.columns)
        return self.created(row, status=201 if is_new else 200, members=self.sent_members)

    def change(self, row: Vendor, body: VendorBody) -> None:
        row.name = body.company or ""
        for column, value in body.columns.items():
            setattr(row, column, value)
        row.save(update_fields=["name", *body.columns])

    def remove(self, row: Vendor) -> None:
        """Its applications and their clients go along."""
        # Locked, so that one that a concurrent request moves to another vendor stays.
        applications = list(Application.objects.select_for_update().filter(vendor=row).order_by("pk"))
        for application in applications:
            self.audit("application removed", id=application.pk)
            remove_application(application, by=self.by)
        row.delete()

    def applications(self, request: Request, id: str) -> Response:
        """`GET vendors/{id}/applications`, by name."""
        vendor = self.found(id)
        rows = applications_of(self.tenant).filter(vendor=vendor).order_by("name", "pk")
        return Response([represented(row) for row in rows])
