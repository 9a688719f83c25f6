"""`v3/claimSets`: names, copies, export and import."""

from typing import Any, ClassVar

from django.contrib.postgres.expressions import ArraySubquery
from django.db import transaction
from django.db.models import OuterRef, QuerySet
from rest_framework.request import Request
from rest_framework.response import Response

from edfi_api.data_stores.tenants import visible_to
from edfi_api.security.claim_set_exchange import imported
from edfi_api.security.claim_set_operations import copy_claim_set, export_claim_set, replace_grants
from edfi_api.security.claims_file import Claims
from edfi_api.security.claims_store import hold_claims, lock_claims, stored_claims
from edfi_api.security.models import Application, ClaimSet
from edfi_api.startup import current_surface

from .. import problems
from ..bodies import integer, read_values
from ..collections import ID, Collection
from ..listing import Listing, exactly, number
from ..members import NOT_EMPTY, ONE_LINE, POSITIVE, Kind, Member, Shape, at_most, is_empty, name, says
from ..resource_claims import refused_if_invalid
from .applications import BLANKS

NO_NAME = says("Please provide a valid claim set name.", is_empty)
TOO_LONG = "The claim set name must be less than 256 characters."
TAKEN = problems.not_unique("A claim set with this name already exists.")
_RESERVED = "The specified claim set is system-reserved and cannot be {}."
_NAME_RULES = (NO_NAME, at_most(256, TOO_LONG), BLANKS, ONE_LINE)


class ClaimSets(Collection):
    """Claim sets. Those that come along are reserved, and those of all tenants are no tenant's to change."""

    address = "claimSets"
    noun = "claim set"
    missing = "ClaimSet {id} not found. It may have been recently deleted."
    metadata_actions = frozenset({"list"})
    shape: ClassVar[Shape] = (Member("claimSetName", rules=_NAME_RULES, is_required=True),)
    shape_of_put: ClassVar[Shape] = (ID, *shape)
    shape_of_copy: ClassVar[Shape] = (
        Member("originalId", Kind.INTEGER, (NOT_EMPTY, POSITIVE)),
        name("claimSetName", 256, BLANKS),
    )
    shape_of_import: ClassVar[Shape] = (
        Member("claimSetName", rules=_NAME_RULES),
        Member("resourceClaims", Kind.OBJECTS),
    )
    listing = Listing(
        order={"id": "pk", "name": "name", "claimSetName": "name"},
        filters={"id": number("pk"), "claimSetName": exactly("name"), "name": exactly("name")},
    )
    answered = (
        Member("_isSystemReserved", Kind.BOOLEAN),
        Member("_applications", Kind.OBJECTS),
        Member("resourceClaims", Kind.OBJECTS),
    )
    refusals: ClassVar = dict.fromkeys(
        ("claim_set_once_per_tenant", "claim_set_name_once_in_any_case", "claim_set_name_is_not_shared"), TAKEN
    )

    def rows(self) -> QuerySet[ClaimSet]:
        applications = Application.objects.filter(claim_set=OuterRef("pk"), vendor__tenant=self.tenant)
        return ClaimSet.objects.filter(visible_to(self.tenant)).annotate(
            application_names=ArraySubquery(applications.order_by("name", "pk").values("name"))
        )

    def found(self, id_: str | int, *, for_update: bool = False) -> Any:
        if for_update:
            lock_claims()
        return super().found(id_, for_update=for_update)

    def represent(self, row: Any) -> dict[str, Any]:
        return {
            "id": row.pk,
            "claimSetName": row.name,
            "_isSystemReserved": row.is_system_reserved,
            "_applications": [{"applicationName": each} for each in row.application_names],
        }

    def item(self, row: ClaimSet) -> dict[str, Any]:
        return self.represent(row) | export_claim_set(row)

    def retrieve(self, request: Request, id: str) -> Response:
        with transaction.atomic():
            hold_claims()
            return super().retrieve(request, id)

    def add(self, values: dict[str, Any]) -> Response:
        row = ClaimSet.objects.create(tenant=self.tenant, name=values["claimSetName"])
        return self.created(row)

    def change(self, row: ClaimSet, values: dict[str, Any]) -> None:
        self.refuse_reserved(row, "updated")
        row.name = values["claimSetName"]
        row.save(update_fields=["name"])

    def remove(self, row: ClaimSet) -> None:
        """Applications go on to name it."""
        self.refuse_reserved(row, "deleted")
        row.applications.update(claim_set=None)
        row.delete()

    def export(self, request: Request, id: str) -> Response:
        """`GET claimSets/{id}/export`"""
        return self.retrieve(request, id)

    def copy(self, request: Request) -> Response:
        """`POST claimSets/copy`"""
        values = self.values_of_copy()
        with self.written(self.refusals):
            lock_claims()
            original = self.rows().filter(pk=values["originalId"]).first()
            if original is None:
                text = f"OriginalId {values['originalId']} not found. It may have been recently deleted."
                raise problems.unresolved_reference(text)
            row = ClaimSet(tenant=self.tenant, name=values["claimSetName"], description=original.description)
            copy_claim_set(original, row, self.by)
            return self.created(row, original=original.pk)

    def import_(self, request: Request) -> Response:
        """`POST claimSets/import`: a new claim set, or new grants for the one of the name."""
        with self.written(self.refusals):
            # Before anything is read: no concurrent change of claims gets lost.
            lock_claims()
            claims = stored_claims(self.tenant)
            values = self.values_of_import(claims)
            with refused_if_invalid():
                found = imported(values["claimSetName"], values["resourceClaims"], claims, current_surface())
            row = self.rows().filter(name__iexact=values["claimSetName"]).first()
            if row is None:
                row = ClaimSet.objects.create(tenant=self.tenant, name=values["claimSetName"])
            self.refuse_reserved(row, "imported")
            replace_grants(row, found.grants, self.by)
            self.audit("claim set imported", id=row.pk)
            return self.created(row, {"id": row.pk, "warnings": found.warnings})

    def values_of_copy(self) -> dict[str, Any]:
        return read_values(self.request._request, self.shape_of_copy)

    def values_of_import(self, claims: Claims) -> dict[str, Any]:
        return read_values(self.request._request, self.shape_of_import)

    def refuse_reserved(self, row: ClaimSet, verb: str) -> None:
        """Raise a Refusal for a claim set that the tenant must not change."""
        if row.is_system_reserved or row.tenant_id != (self.tenant and self.tenant.pk):
            raise problems.bad_request(_RESERVED.format(verb))

    def found_own(self, id_: str) -> ClaimSet:
        """The claim set with this id, to be changed. Raises a Refusal."""
        row: ClaimSet = self.found(integer(id_), for_update=True)
        self.refuse_reserved(row, "updated")
        return row
