"""`v3/vendors`."""

from typing import Any, ClassVar

from django.db.models import Q, QuerySet
from rest_framework.request import Request
from rest_framework.response import Response

from edfi_api.security.clients import remove_application
from edfi_api.security.models import Application, Vendor

from .. import problems
from ..collections import ID, Collection
from ..listing import Listing, exactly, number
from ..members import EMAIL, NOT_EMPTY, ONE_LINE, Member, Shape, at_most, name, says
from .applications import applications_of, represented

LONGEST_PREFIX = 128
_TOO_LONG = f"Each NamespacePrefix length must be {LONGEST_PREFIX} characters or fewer."
TAKEN = "A vendor name already exists in the database. Please enter a unique name."


def prefixes(text: str | None) -> list[str]:
    """Those of a text, separated by commas."""
    return [each.strip() for each in (text or "").split(",") if each.strip()]


def has_long_prefix(text: str | None) -> bool:
    return any(len(each) > LONGEST_PREFIX for each in prefixes(text))


_PREFIXES = Member("namespacePrefixes", rules=(NOT_EMPTY, says(_TOO_LONG, has_long_prefix), ONE_LINE))
# A PUT may omit the contact.
_OPTIONAL_CONTACT = (
    Member("contactName", rules=(at_most(128), ONE_LINE)),
    Member("contactEmailAddress", rules=(EMAIL, at_most(320), ONE_LINE)),
)


class Vendors(Collection):
    """Vendors with their namespace prefixes."""

    address = "vendors"
    noun = "vendor"
    missing = "Vendor {id} not found. It may have been recently deleted."
    post_changes_existing = True
    shape: ClassVar[Shape] = (
        name("company", 256),
        name("contactName", 128),
        name("contactEmailAddress", 320, EMAIL),
        _PREFIXES,
    )
    shape_of_put: ClassVar[Shape] = (ID, name("company", 256), *_OPTIONAL_CONTACT, _PREFIXES)
    listing = Listing(
        order={
            "id": "pk",
            "company": "name",
            "contactName": "contact_name",
            "contactEmailAddress": "contact_email",
        },
        filters={
            "id": number("pk"),
            "company": exactly("name"),
            "namespacePrefixes": lambda value: Q(namespace_prefixes__contains=[value.replace("\0", "\ufffd")]),
            "contactName": exactly("contact_name"),
            "contactEmailAddress": exactly("contact_email"),
        },
    )
    refusals = {"vendor_once_per_tenant": problems.invalid_data({"Name": [TAKEN]})}

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

    def add(self, values: dict[str, Any]) -> Response:
        row, is_new = Vendor.objects.update_or_create(
            tenant=self.tenant, name=values["company"], defaults=_columns(values)
        )
        return self.created(row, status=201 if is_new else 200, members=",".join(values))

    def change(self, row: Vendor, values: dict[str, Any]) -> None:
        assign(row, values)
        row.save(update_fields=["name", *_columns(values)])

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


def assign(row: Vendor, values: dict[str, Any]) -> None:
    """Set all columns of a vendor."""
    row.name = values["company"]
    for column, value in _columns(values).items():
        setattr(row, column, value)


def _columns(values: dict[str, Any]) -> dict[str, Any]:
    return {
        "contact_name": values["contactName"] or "",
        "contact_email": values["contactEmailAddress"] or "",
        "namespace_prefixes": prefixes(values["namespacePrefixes"]),
    }
