"""`v3/claimSets`: names, copies, export, import, and grants one by one."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Annotated, Any, ClassVar

from django.contrib.postgres.expressions import ArraySubquery
from django.db import transaction
from django.db.models import OuterRef, QuerySet
from rest_framework.request import Request
from rest_framework.response import Response

from edfi_api.core.data_stores.tenants import visible_to
from edfi_api.core.queries.listing.fields import Field
from edfi_api.core.security.claim_names import action_named, actions_in_order
from edfi_api.core.security.claims.exchange import (
    InvalidResourceClaims,
    MalformedResourceClaims,
    copy_claim_set,
    export_claim_set,
    imported,
    replace_grants,
)
from edfi_api.core.security.claims.model import Claims
from edfi_api.core.security.claims.stored_claims import hold_claims, lock_claims, stored_claims
from edfi_api.core.security.claims.strategy_faults import unknown_for
from edfi_api.core.security.models import Application, ClaimSet, Grant, OverridingStrategies, ResourceClaim
from edfi_api.core.startup import current_surface
from edfi_api.features.management_api import problems, texts
from edfi_api.features.management_api.answer_shapes import DescribedAnswer, ImportedClaimSet
from edfi_api.features.management_api.bodies import (
    NO_BLANKS,
    NOT_EMPTY,
    ONE_LINE,
    POSITIVE,
    Boolean,
    Integer,
    LowerCasedObject,
    ManagementBody,
    Objects,
    Text,
    Texts,
    at_most,
    integer,
    is_empty,
    name_rule,
    rule,
)
from edfi_api.features.management_api.collections import Answered, Collection
from edfi_api.features.management_api.listing import EXACT, NUMBER, Listing

_HAS_NAME = rule(is_empty, texts.NO_CLAIM_SET_NAME)
_SHORT_NAME = at_most(256, texts.LONG_CLAIM_SET_NAME)
_TAKEN = problems.not_unique(texts.CLAIM_SET_TAKEN)


class ClaimSetBody(ManagementBody, frozen=True, kw_only=True):
    """Of a POST."""

    example = {"claimSetName": "Attendance"}

    claim_set_name: Annotated[Text, _HAS_NAME, _SHORT_NAME, NO_BLANKS, ONE_LINE]


class ClaimSetChangeBody(ClaimSetBody, frozen=True, kw_only=True):
    """Of a PUT."""

    example = {"id": 1, **ClaimSetBody.example}

    id: Integer = None


class CopyBody(ManagementBody, frozen=True, kw_only=True):
    """Of `POST claimSets/copy`."""

    example = {"originalId": 1, "claimSetName": "AttendanceOfLakeside"}

    original_id: Annotated[Integer, NOT_EMPTY, POSITIVE] = None
    claim_set_name: Annotated[Text, name_rule(256, NO_BLANKS)] = None


class ImportBody(ManagementBody, frozen=True, kw_only=True):
    """Of `POST claimSets/import`."""

    example = {
        "claimSetName": "AttendanceOf2027",
        "resourceClaims": [
            {
                "claimName": "http://ed-fi.org/identity/claims/domains/people",
                "actions": [{"name": "Read", "enabled": True}],
            }
        ],
    }

    claim_set_name: Annotated[Text, _HAS_NAME, _SHORT_NAME, NO_BLANKS, ONE_LINE] = None
    resource_claims: Objects = None


class GrantBody(ManagementBody, frozen=True, kw_only=True):
    """Of a POST of a grant."""

    example = {"resourceClaimId": 1, "resourceClaimActions": [{"name": "Read", "enabled": True}]}

    resource_claim_id: Annotated[Integer, NOT_EMPTY, POSITIVE] = None
    resource_claim_actions: Objects = None


class ActionsBody(ManagementBody, frozen=True, kw_only=True):
    """Of a PUT of a grant."""

    example = {"resourceClaimActions": [{"name": "Create", "enabled": True}, {"name": "Read", "enabled": True}]}

    resource_claim_actions: Objects = None


class OverrideBody(ManagementBody, frozen=True, kw_only=True):
    """Of `POST …/overrideAuthorizationStrategy`."""

    example = {"actionName": "Read", "authorizationStrategies": ["NoFurtherAuthorizationRequired"]}

    action_name: Annotated[Text, NOT_EMPTY] = None
    authorization_strategies: Texts = None


class _Answered(Answered, frozen=True, kw_only=True):
    _is_system_reserved: Boolean = None
    _applications: Objects = None
    resource_claims: Objects = None


@contextmanager
def refused_if_invalid() -> Iterator[None]:
    """Resource claims of a body that cannot be imported raise RequestRefused."""
    try:
        yield
    except MalformedResourceClaims:
        raise problems.invalid_json() from None
    except InvalidResourceClaims as error:
        raise problems.invalid_data({"ResourceClaims": error.findings}) from None


class ClaimSets(Collection):
    """Claim sets. Those that come along are reserved, and those of all tenants are no tenant's to change."""

    address = "claimSets"
    noun = "claim set"
    metadata_actions = frozenset({"list"})
    bodies = {"create": ClaimSetBody, "update": ClaimSetChangeBody, "copy": CopyBody, "import_": ImportBody}
    listing = Listing(
        order={"id": "pk", "name": "name", "claimSetName": "name"},
        filters=(Field("id", "pk", NUMBER), Field("claimSetName", "name", EXACT), Field("name", "name", EXACT)),
    )
    answered = _Answered
    answers = {"import_": DescribedAnswer(201, ImportedClaimSet)}
    refusals: ClassVar = dict.fromkeys(
        ("claim_set_once_per_tenant", "claim_set_name_once_in_any_case", "claim_set_name_is_not_shared"), _TAKEN
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

    def add(self, body: ClaimSetBody) -> Response:
        return self.created(ClaimSet.objects.create(tenant=self.tenant, name=body.claim_set_name or ""))

    def change(self, row: ClaimSet, body: ClaimSetBody) -> None:
        self.refuse_reserved(row, "updated")
        row.name = body.claim_set_name or ""
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
        body: CopyBody = self.read()
        with self.write_transaction(self.refusals):
            lock_claims()
            original = self.rows().filter(pk=body.original_id or 0).first()
            if original is None:
                raise problems.unresolved_reference(texts.NO_ORIGINAL.format(id=body.original_id))
            row = ClaimSet(tenant=self.tenant, name=body.claim_set_name or "", description=original.description)
            copy_claim_set(original, row, self.by)
            return self.created(row, original=original.pk)

    def import_(self, request: Request) -> Response:
        """`POST claimSets/import`: a new claim set, or new grants for the one of the name."""
        with self.write_transaction(self.refusals):
            # Before anything is read: no concurrent change of claims gets lost.
            lock_claims()
            claims = stored_claims(self.tenant)
            body: ImportBody = self.read()
            claim_set_name = body.claim_set_name or ""
            with refused_if_invalid():
                resource_claims = self.flat(body.resource_claims or (), claims)
                found = imported(claim_set_name, resource_claims, claims, current_surface())
            row = self.rows().filter(name__iexact=claim_set_name).first()
            if row is None:
                row = ClaimSet.objects.create(tenant=self.tenant, name=claim_set_name)
            self.refuse_reserved(row, "imported")
            replace_grants(row, found.grants, self.by)
            self.audit("claim set imported", id=row.pk)
            return self.created(row, {"id": row.pk, "warnings": found.warnings})

    def flat(self, sent: Sequence[LowerCasedObject], claims: Claims) -> list[dict[str, Any]]:
        """The resource claims of an import, one after the other."""
        return list(sent)

    def refuse_reserved(self, row: ClaimSet, verb: str) -> None:
        """Raise RequestRefused for a claim set that the tenant must not change."""
        if row.is_system_reserved or row.tenant_id != (self.tenant and self.tenant.pk):
            raise self.reserved(row, verb)

    def reserved(self, row: ClaimSet, verb: str) -> problems.RequestRefused:
        return problems.bad_request(texts.RESERVED.format(verb=verb))


class Grants(ClaimSets):
    """`claimSets/{id}/resourceClaimActions`: adds, replaces and removes the grants of a claim set, and their overriding
    strategies."""

    bodies = {
        **ClaimSets.bodies,
        "add_grant": GrantBody,
        "change_grant": ActionsBody,
        "override": OverrideBody,
    }

    def add_grant(self, request: Request, id: str) -> Response:
        """`POST …/resourceClaimActions`"""
        number = integer(id)
        body: GrantBody = self.read()
        actions = _enabled(body.resource_claim_actions)
        with self.write_transaction():
            row = self.locked(number)
            claim = ResourceClaim.objects.filter(pk=body.resource_claim_id or 0).first()
            if claim is None:
                text = texts.NOTHING_OF_THE_NAME.format(name=body.resource_claim_id)
                raise problems.invalid_data({"ResourceClaimId": [text]})
            _grant(row, claim.pk, actions)
        return self.granted(row.pk, 201)

    def change_grant(self, request: Request, id: str, claim_id: str) -> Response:
        """`PUT …/resourceClaimActions/{claim}`"""
        number, of_claim = integer(id), integer(claim_id)
        body: ActionsBody = self.read()
        actions = _enabled(body.resource_claim_actions)
        with self.write_transaction():
            row = self.locked(number)
            _grant_on(row, of_claim)
            _grant(row, of_claim, actions)
        return self.granted(row.pk)

    def remove_grant(self, request: Request, id: str, claim_id: str) -> Response:
        """`DELETE …/resourceClaimActions/{claim}`"""
        number, of_claim = integer(id), integer(claim_id)
        with self.write_transaction():
            row = self.locked(number)
            _grant_on(row, of_claim).delete()
        return self.granted(row.pk)

    def override(self, request: Request, id: str, claim_id: str) -> Response:
        """`POST …/resourceClaimActions/{claim}/overrideAuthorizationStrategy`"""
        number, of_claim = integer(id), integer(claim_id)
        body: OverrideBody = self.read()
        action, names = action_named(body.action_name or ""), body.authorization_strategies or []
        no_action = problems.invalid_data({"ActionName": [texts.NOTHING_OF_THE_NAME.format(name="ActionName")]})
        if action is None:
            raise no_action
        if unknown := unknown_for(action, names, current_surface()):
            found = [texts.NOTHING_OF_THE_NAME.format(name=each) for each in unknown]
            raise problems.invalid_data({"AuthorizationStrategies": found})
        with self.write_transaction():
            row = self.locked(number)
            grant = _grant_on(row, of_claim)
            if action not in grant.actions:
                raise no_action
            grant.overrides.filter(action=action).delete()
            if names:
                OverridingStrategies.objects.create(grant=grant, action=action, strategies=names)
        return self.granted(row.pk)

    def reset(self, request: Request, id: str, claim_id: str) -> Response:
        """`POST …/resourceClaimActions/{claim}/resetAuthorizationStrategies`"""
        number, of_claim = integer(id), integer(claim_id)
        with self.write_transaction():
            row = self.locked(number)
            _grant_on(row, of_claim).overrides.all().delete()
        return self.granted(row.pk)

    def locked(self, number: int) -> ClaimSet:
        """The claim set, to be changed while no other request changes claims. Raises RequestRefused."""
        row: ClaimSet = self.found(number, for_update=True)
        self.refuse_reserved(row, "updated")
        return row

    def granted(self, number: int, status: int = 204) -> Response:
        """The answer to a change, which is logged."""
        self.audit("claim set changed", id=number, members="resourceClaims")
        return Response(status=status)


def _grant_on(row: ClaimSet, claim_id: int) -> Grant:
    found = row.grants.filter(resource_claim=claim_id).first()
    if found is None:
        raise problems.invalid_data({"ResourceClaimId": [texts.NO_GRANT]})
    return found


def _grant(row: ClaimSet, claim_id: int, actions: list[str]) -> None:
    grant, _ = Grant.objects.update_or_create(claim_set=row, resource_claim_id=claim_id, defaults={"actions": actions})
    grant.overrides.exclude(action__in=actions).delete()


def _enabled(sent: Sequence[LowerCasedObject] | None) -> list[str]:
    """The enabled actions. Raises RequestRefused."""
    names = {str(each.get("name", "")): each.get("enabled", True) is not False for each in sent or ()}
    unknown = [texts.UNKNOWN_ACTION.format(name=name) for name in names if action_named(name) is None]
    enabled = {action_named(name) or "": () for name, is_enabled in names.items() if is_enabled}
    if found := unknown or ([] if enabled else [texts.NO_ACTION]):
        raise problems.invalid_data({"ResourceClaimActions": found})
    return actions_in_order(enabled)
