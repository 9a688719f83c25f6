"""Claim sets in the shapes of Admin API 2: resource claims nested in each other."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar

from rest_framework.response import Response

from edfi_api.security.actions import actions_in_order
from edfi_api.security.claim_set_exchange import Grants, by_lineage, objects
from edfi_api.security.claim_uris import short_name
from edfi_api.security.claims import all_defaults
from edfi_api.security.claims_file import ByAction, Claims
from edfi_api.security.claims_store import stored_claims
from edfi_api.security.models import ClaimSet, ResourceClaim

from .. import problems
from ..bodies import read_values
from ..listing import Listing, exactly, number
from ..members import NOT_EMPTY, ONE_LINE, POSITIVE, Kind, Member, at_most
from ..resource_claims import ACTION_IDS, STRATEGY_IDS, refused_if_invalid
from ..v3.applications import BLANKS
from ..v3.claim_sets import ClaimSets
from ..v3.grants import Grants as GrantsOfV3
from .collections import DEFAULT_LIMIT, Version2, missing_text

_NAME = Member("name", rules=(NOT_EMPTY, at_most(255), BLANKS, ONE_LINE))
_TAKEN = problems.invalid_data(
    {"Name": ["A claim set with this name already exists in the database. Please enter a unique name."]}
)


class ClaimSetsV2(Version2, ClaimSets):
    """Claim sets. One that applications use is not deleted."""

    title = "ClaimSet"
    missing = missing_text("claimset")
    shape = (_NAME,)
    shape_of_put = shape
    shape_of_copy = (Member("originalId", Kind.INTEGER, (NOT_EMPTY, POSITIVE)), _NAME)
    shape_of_import = (_NAME, Member("resourceClaims", Kind.OBJECTS))
    listing = Listing(
        order={"id": "pk", "name": "name"},
        filters={"id": number("pk"), "name": exactly("name")},
        default_limit=DEFAULT_LIMIT,
    )
    refusals: ClassVar = dict.fromkeys(ClaimSets.refusals, _TAKEN)

    def represent(self, row: Any) -> dict[str, Any]:
        found = super().represent(row)
        found["name"] = found.pop("claimSetName")
        return {key: found[key] for key in ("id", "name", "_isSystemReserved", "_applications")}

    def item(self, row: ClaimSet) -> dict[str, Any]:
        claims = stored_claims(row.tenant)
        return self.represent(row) | {"resourceClaims": nested(claims.claim_sets[row.name].grants, claims)}

    def add(self, values: dict[str, Any]) -> Response:
        return super().add({"claimSetName": values["name"]})

    def change(self, row: ClaimSet, values: dict[str, Any]) -> None:
        super().change(row, {"claimSetName": values["name"]})

    def remove(self, row: ClaimSet) -> None:
        self.refuse_reserved(row, "deleted")
        if users := row.applications.count():
            text = f"Cannot delete this claim set. This claim set has {users} associated application(s)."
            raise problems.invalid_data({"Id": [text]})
        super().remove(row)

    def values_of_copy(self) -> dict[str, Any]:
        values = read_values(self.request._request, self.shape_of_copy)
        return values | {"claimSetName": values["name"]}

    def values_of_import(self, claims: Claims) -> dict[str, Any]:
        values = read_values(self.request._request, self.shape_of_import)
        with refused_if_invalid():
            flat = list(_flat(values["resourceClaims"], claims, None))
        return {"claimSetName": values["name"], "resourceClaims": flat}

    def refuse_reserved(self, row: ClaimSet, verb: str) -> None:
        try:
            super().refuse_reserved(row, verb)
        except problems.Refusal:
            text = f"Claim set ({row.name}) is system reserved. May not be modified."
            raise problems.invalid_data({"Id": [text]}) from None


class GrantsV2(ClaimSetsV2, GrantsOfV3):
    """The grants of a claim set one by one."""

    def granted(self, number: int, status: int = 204) -> Response:
        super().granted(number)
        return Response(status=201 if status == 201 else 200)


def nested(grants: Grants, claims: Claims) -> list[dict[str, Any]]:
    """The granted claims, each below its parent if that is granted too."""
    ids = dict(ResourceClaim.objects.values_list("name", "pk"))
    defaults = all_defaults()
    roots: list[dict[str, Any]] = []
    by_name: dict[str, dict[str, Any]] = {}
    for name in by_lineage(grants, claims):
        parent = claims.resource_claims[name].parent
        inherited = grants.get(parent or "", {})
        by_name[name] = {
            "id": ids[name],
            "name": short_name(name),
            "actions": [{"name": action, "enabled": True} for action in actions_in_order(grants[name])],
            "_defaultAuthorizationStrategiesForCRUD": _strategies(defaults.get(name, {}), {}),
            "authorizationStrategyOverridesForCRUD": _strategies(grants[name], inherited),
            "children": [],
        }
        (by_name[parent]["children"] if parent in by_name else roots).append(by_name[name])
    return roots


def _strategies(by_action: ByAction, inherited: ByAction) -> list[dict[str, Any]]:
    return [
        {
            "actionId": ACTION_IDS[action],
            "actionName": action,
            "authorizationStrategies": [
                {
                    "authStrategyId": STRATEGY_IDS.get(name, 0),
                    "authStrategyName": name,
                    "isInheritedFromParent": name in inherited.get(action, ()),
                }
                for name in by_action[action]
            ],
        }
        for action in actions_in_order(by_action)
        if by_action[action]
    ]


def _flat(sent: Sequence[Mapping[str, Any]], claims: Claims, parent: str | None) -> Iterator[dict[str, Any]]:
    """The nested claims one after the other, with the names that version 3 has for them."""
    for each in sent:
        name = _full_name(str(each.get("name") or ""), claims, parent)
        yield {
            "claimname": name,
            "actions": each.get("actions"),
            "authorizationstrategyoverrides": each.get("authorizationstrategyoverridesforcrud"),
        }
        yield from _flat(objects(each, "children"), claims, name)


def _full_name(name: str, claims: Claims, parent: str | None) -> str:
    """Of several claims with the name, the one in `parent`."""
    if name in claims.resource_claims:
        return name
    found = [each for each in claims.resource_claims if short_name(each).lower() == name.lower()]
    inside = [each for each in found if claims.resource_claims[each].parent == parent]
    return next(iter([*inside, *found]), name)
