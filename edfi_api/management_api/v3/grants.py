"""`claimSets/{id}/resourceClaimActions`: the grants of a claim set one by one."""

from collections.abc import Sequence
from typing import Any, ClassVar

from rest_framework.request import Request
from rest_framework.response import Response

from edfi_api.security.actions import action_named, actions_in_order
from edfi_api.security.models import ClaimSet, Grant, OverridingStrategies, ResourceClaim
from edfi_api.security.strategy_faults import unknown_for
from edfi_api.startup import current_surface

from .. import problems
from ..bodies import integer, read_values
from ..members import NOT_EMPTY, POSITIVE, Kind, Member, Shape
from .claim_sets import ClaimSets

_NO_GRANT = "Resource claim doesn't exist for the Claim set provided"
_NO_ACTION = "A resource must have at least one action associated with it to be added."
_ACTIONS = Member("resourceClaimActions", Kind.OBJECTS)


class Grants(ClaimSets):
    """Adds, replaces and removes the grants of a claim set, and their overriding strategies."""

    noun = "claim set"
    shape_of_grant: ClassVar[Shape] = (Member("resourceClaimId", Kind.INTEGER, (NOT_EMPTY, POSITIVE)), _ACTIONS)
    shape_of_actions: ClassVar[Shape] = (_ACTIONS,)
    shape_of_override: ClassVar[Shape] = (
        Member("actionName", rules=(NOT_EMPTY,)),
        Member("authorizationStrategies", Kind.TEXTS),
    )

    def add_grant(self, request: Request, id: str) -> Response:
        """`POST …/resourceClaimActions`"""
        number = integer(id)
        values = read_values(request._request, self.shape_of_grant)
        actions = _actions(values["resourceClaimActions"])
        with self.written():
            row = self.locked(number)
            claim = ResourceClaim.objects.filter(pk=values["resourceClaimId"]).first()
            if claim is None:
                raise problems.invalid_data({"ResourceClaimId": [f"{values['resourceClaimId']} doesn't exist."]})
            self._grant(row, claim.pk, actions)
        return self.granted(row.pk, 201)

    def change_grant(self, request: Request, id: str, claim_id: str) -> Response:
        """`PUT …/resourceClaimActions/{claim}`"""
        number, of_claim = integer(id), integer(claim_id)
        actions = _actions(read_values(request._request, self.shape_of_actions)["resourceClaimActions"])
        with self.written():
            row = self.locked(number)
            self._grant_on(row, of_claim)
            self._grant(row, of_claim, actions)
        return self.granted(row.pk)

    def remove_grant(self, request: Request, id: str, claim_id: str) -> Response:
        """`DELETE …/resourceClaimActions/{claim}`"""
        number, of_claim = integer(id), integer(claim_id)
        with self.written():
            row = self.locked(number)
            self._grant_on(row, of_claim).delete()
        return self.granted(row.pk)

    def override(self, request: Request, id: str, claim_id: str) -> Response:
        """`POST …/resourceClaimActions/{claim}/overrideAuthorizationStrategy`"""
        number, of_claim = integer(id), integer(claim_id)
        values = read_values(request._request, self.shape_of_override)
        action = action_named(values["actionName"])
        names = values["authorizationStrategies"]
        if action is None:
            raise problems.invalid_data({"ActionName": ["ActionName doesn't exist."]})
        if unknown := unknown_for(action, names, current_surface()):
            raise problems.invalid_data({"AuthorizationStrategies": [f"{each} doesn't exist." for each in unknown]})
        with self.written():
            row = self.locked(number)
            grant = self._grant_on(row, of_claim)
            if action not in grant.actions:
                raise problems.invalid_data({"ActionName": ["ActionName doesn't exist."]})
            grant.overrides.filter(action=action).delete()
            if names:
                OverridingStrategies.objects.create(grant=grant, action=action, strategies=names)
        return self.granted(row.pk)

    def reset(self, request: Request, id: str, claim_id: str) -> Response:
        """`POST …/resourceClaimActions/{claim}/resetAuthorizationStrategies`"""
        number, of_claim = integer(id), integer(claim_id)
        with self.written():
            row = self.locked(number)
            self._grant_on(row, of_claim).overrides.all().delete()
        return self.granted(row.pk)

    def locked(self, number: int) -> ClaimSet:
        """The claim set, while no other request changes claims."""
        return self.found_own(str(number))

    def granted(self, number: int, status: int = 204) -> Response:
        """The answer to a change, which is logged."""
        self.audit("claim set changed", id=number, members="resourceClaims")
        return Response(status=status)

    def _grant_on(self, row: ClaimSet, claim_id: int) -> Grant:
        found = row.grants.filter(resource_claim=claim_id).first()
        if found is None:
            raise problems.invalid_data({"ResourceClaimId": [_NO_GRANT]})
        return found

    def _grant(self, row: ClaimSet, claim_id: int, actions: list[str]) -> None:
        grant, _ = Grant.objects.update_or_create(
            claim_set=row, resource_claim_id=claim_id, defaults={"actions": actions}
        )
        grant.overrides.exclude(action__in=actions).delete()


def _actions(sent: Sequence[dict[str, Any]]) -> list[str]:
    """The enabled actions. Raises a Refusal."""
    names = {str(each.get("name", "")): each.get("enabled", True) is not False for each in sent}
    unknown = [f"{name} is not a valid action." for name in names if action_named(name) is None]
    enabled = {action_named(name) or "": () for name, is_enabled in names.items() if is_enabled}
    texts = unknown or ([] if enabled else [_NO_ACTION])
    if texts:
        raise problems.invalid_data({"ResourceClaimActions": texts})
    return actions_in_order(enabled)
