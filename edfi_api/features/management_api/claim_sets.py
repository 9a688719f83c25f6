"""Claim sets: names, copies, export, import, and grants one by one."""

from collections.abc import Mapping, Sequence
from typing import Any

from django.contrib.postgres.expressions import ArraySubquery
from django.db import transaction
from django.db.models import OuterRef, QuerySet
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from edfi_api.core.data_stores.stores import visible_to
from edfi_api.core.queries.listing import Field
from edfi_api.core.security.claim_names import action_named, actions_in_order
from edfi_api.core.security.claims.exchange import (
    InvalidResourceClaims,
    MalformedResourceClaims,
    copy_claim_set,
    imported,
    replace_grants,
)
from edfi_api.core.security.claims.stored_claims import hold_claims, lock_claims, stored_claims
from edfi_api.core.security.claims.validation import unknown_for
from edfi_api.core.security.models import Application, ClaimSet, Grant, OverridingStrategies, ResourceClaim
from edfi_api.core.served import current_surface
from edfi_api.features.management_api import answers, problems, serializers, texts
from edfi_api.features.management_api.bodies import integer
from edfi_api.features.management_api.listing import EXACT, Listing
from edfi_api.features.management_api.views import CollectionViewSet

CONSTRAINTS = ("claim_set_once_per_tenant", "claim_set_name_once_in_any_case", "claim_set_name_is_not_shared")
# Version 3 has it by both names.
_NAME = Field("name", "name", EXACT)
_GRANTS = "resourceClaimActions"
_GRANT = f"{_GRANTS}/<claim_id>"


class ClaimSetViewSet(CollectionViewSet):
    """Claim sets. Those that come along are reserved, and those of all tenants are no tenant's to change."""

    noun = "claim set"
    # Whether one that applications use stays; otherwise they go on to name it.
    is_kept_in_use = False
    metadata_actions = frozenset({"list"})
    serializer_class = serializers.ClaimSetSerializer
    action_serializers = {
        "copy": serializers.ClaimSetCopySerializer,
        "import_": serializers.ClaimSetImportSerializer,
        "add_grant": serializers.GrantSerializer,
        "change_grant": serializers.ActionsSerializer,
        "override": serializers.OverrideSerializer,
    }
    action_answers = {"import_": (201, answers.ImportedClaimSet)}
    listing = Listing(("pk", _NAME, "name"), ("pk", "name", _NAME))
    refusals = dict.fromkeys(CONSTRAINTS, problems.refused("identity", errors=[texts.CLAIM_SET_TAKEN]))

    def get_queryset(self) -> QuerySet[ClaimSet]:
        applications = Application.objects.filter(claim_set=OuterRef("pk"), vendor__tenant=self.tenant)
        return ClaimSet.objects.filter(visible_to(self.tenant)).annotate(
            application_names=ArraySubquery(applications.order_by("name", "pk").values("name"))
        )

    def found(self, id_: str | int, *, for_update: bool = False) -> Any:
        if for_update:
            lock_claims()
        return super().found(id_, for_update=for_update)

    def complete(self, row: Any) -> Any:
        claims = stored_claims(row.tenant)
        grants = claims.claim_sets[row.name].grants
        row.resource_claims_shown = self.serializer_class.represent_grants(grants, claims)
        return row

    def retrieve(self, request: Request, id: str) -> Response:
        with transaction.atomic():
            hold_claims()
            return super().retrieve(request, id)

    def add(self, serializer: Any, values: dict[str, Any]) -> Response:
        return self.created(ClaimSet.objects.create(tenant=self.tenant, **values))

    def change(self, row: ClaimSet, serializer: Any, values: dict[str, Any]) -> None:
        self._refuse_reserved(row, "updated")
        row.name = values["name"]
        row.save(update_fields=["name"])

    def remove(self, row: ClaimSet) -> None:
        self._refuse_reserved(row, "deleted")
        users = row.applications.count() if self.is_kept_in_use else 0
        if users:
            raise problems.invalid_data({"Id": [texts.V2.CLAIM_SET_IN_USE.format(number=users)]})
        row.applications.update(claim_set=None)
        row.delete()

    @action(detail=True, methods=["get"])
    def export(self, request: Request, id: str) -> Response:
        """Export the claim set."""
        return self.retrieve(request, id)

    @action(detail=False, methods=["post"])
    def copy(self, request: Request) -> Response:
        """Copy a claim set."""
        _, values = self.read()
        with self.write_transaction(self.refusals):
            lock_claims()
            original = self.get_queryset().filter(pk=values["original_id"]).first()
            if original is None:
                raise problems.unresolved_reference(texts.NO_ORIGINAL.format(id=values["original_id"]))
            row = ClaimSet(tenant=self.tenant, name=values["name"], description=original.description)
            copy_claim_set(original, row, self.by)
            return self.created(row, original=original.pk)

    @action(detail=False, methods=["post"], url_path="import")
    def import_(self, request: Request) -> Response:
        """Store a new claim set, or new grants for the one of the name."""
        with self.write_transaction(self.refusals):
            # Before anything is read: no concurrent change of claims gets lost.
            lock_claims()
            claims = stored_claims(self.tenant)
            serializer, values = self.read()
            try:
                sent = serializer.flat(values["resource_claims"], claims)
                found = imported(values["name"], sent, claims, current_surface())
            except MalformedResourceClaims:
                raise problems.invalid_json() from None
            except InvalidResourceClaims as error:
                raise problems.invalid_data({"ResourceClaims": error.findings}) from None
            row = self.get_queryset().filter(name__iexact=values["name"]).first()
            if row is None:
                row = ClaimSet.objects.create(tenant=self.tenant, name=values["name"])
            self._refuse_reserved(row, "imported")
            replace_grants(row, found.grants, self.by)
            self.audit("claim set imported", id=row.pk)
            return self.created(row, {"id": row.pk, "warnings": found.warnings})

    @action(detail=True, methods=["post"], url_path=_GRANTS)
    def add_grant(self, request: Request, id: str) -> Response:
        """Grant actions on a resource claim."""
        number = integer(id)
        _, values = self.read()
        actions = _enabled(values["resource_claim_actions"])
        with self.write_transaction():
            row = self._lock(number)
            claim = ResourceClaim.objects.filter(pk=values["resource_claim_id"]).first()
            if claim is None:
                text = texts.NOTHING_OF_THE_NAME.format(name=values["resource_claim_id"])
                raise problems.invalid_data({"ResourceClaimId": [text]})
            _grant(row, claim.pk, actions)
        return self._granted(row.pk, 201)

    @action(detail=True, methods=["put"], url_path=_GRANT)
    def change_grant(self, request: Request, id: str, claim_id: str) -> Response:
        """Replace the actions on a resource claim."""
        number, of_claim = integer(id), integer(claim_id)
        _, values = self.read()
        actions = _enabled(values["resource_claim_actions"])
        with self.write_transaction():
            grant = self._lock_grant(number, of_claim)
            _grant(grant.claim_set, of_claim, actions)
        return self._granted(number)

    @change_grant.mapping.delete
    def remove_grant(self, request: Request, id: str, claim_id: str) -> Response:
        """Take a resource claim from the claim set."""
        with self.write_transaction():
            self._lock_grant(integer(id), integer(claim_id)).delete()
        return self._granted(integer(id))

    @action(detail=True, methods=["post"], url_path=f"{_GRANT}/overrideAuthorizationStrategy")
    def override(self, request: Request, id: str, claim_id: str) -> Response:
        """Override the strategies of an action on a resource claim."""
        number, of_claim = integer(id), integer(claim_id)
        _, values = self.read()
        action_, names = action_named(values["action_name"]), values["authorization_strategies"]
        no_action = problems.invalid_data({"ActionName": [texts.NOTHING_OF_THE_NAME.format(name="ActionName")]})
        if action_ is None:
            raise no_action
        if unknown := unknown_for(action_, names, current_surface()):
            found = [texts.NOTHING_OF_THE_NAME.format(name=each) for each in unknown]
            raise problems.invalid_data({"AuthorizationStrategies": found})
        with self.write_transaction():
            grant = self._lock_grant(number, of_claim)
            if action_ not in grant.actions:
                raise no_action
            grant.overrides.filter(action=action_).delete()
            if names:
                OverridingStrategies.objects.create(grant=grant, action=action_, strategies=names)
        return self._granted(number)

    @action(detail=True, methods=["post"], url_path=f"{_GRANT}/resetAuthorizationStrategies")
    def reset(self, request: Request, id: str, claim_id: str) -> Response:
        """Reset the strategies of a resource claim."""
        with self.write_transaction():
            self._lock_grant(integer(id), integer(claim_id)).overrides.all().delete()
        return self._granted(integer(id))

    def _refuse_reserved(self, row: ClaimSet, verb: str) -> None:
        """Raise RequestRefused for a claim set that the tenant must not change."""
        if row.is_system_reserved or row.tenant_id != (self.tenant and self.tenant.pk):
            if self.version == "v2":
                raise problems.invalid_data({"Id": [texts.V2.RESERVED.format(name=row.name)]})
            raise problems.bad_request(texts.RESERVED.format(verb=verb))

    def _lock(self, number: int) -> ClaimSet:
        """Lock and return the claim set, to be changed while no other request changes claims. Raises RequestRefused."""
        row: ClaimSet = self.found(number, for_update=True)
        self._refuse_reserved(row, "updated")
        return row

    def _lock_grant(self, number: int, claim_id: int) -> Grant:
        """Lock a claim set, and return it with its grant on this claim."""
        found = self._lock(number).grants.filter(resource_claim=claim_id).first()
        if found is None:
            raise problems.invalid_data({"ResourceClaimId": [texts.NO_GRANT]})
        return found

    def _granted(self, number: int, status: int = 204) -> Response:
        """The answer to a change, which is logged."""
        self.audit("claim set changed", id=number, members="resourceClaims")
        return Response(status=201) if status == 201 else self.changed()


def _grant(row: ClaimSet, claim_id: int, actions: list[str]) -> None:
    grant, _ = Grant.objects.update_or_create(claim_set=row, resource_claim_id=claim_id, defaults={"actions": actions})
    grant.overrides.exclude(action__in=actions).delete()


def _enabled(sent: Sequence[Mapping[str, Any]]) -> list[str]:
    """The enabled actions. Raises RequestRefused."""
    names = {str(each.get("name", "")): each.get("enabled", True) is not False for each in sent}
    unknown = [texts.UNKNOWN_ACTION.format(name=name) for name in names if action_named(name) is None]
    enabled = {action_named(name) or "": () for name, is_enabled in names.items() if is_enabled}
    if found := unknown or ([] if enabled else [texts.NO_ACTION]):
        raise problems.invalid_data({"ResourceClaimActions": found})
    return actions_in_order(enabled)
