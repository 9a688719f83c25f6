"""Claim sets in the shapes of Admin API 2: resource claims nested in each other."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any, ClassVar

from rest_framework.response import Response

from edfi_api.core.queries.listing.fields import Field
from edfi_api.core.security.claim_names import actions_in_order, claim_of, short_name
from edfi_api.core.security.claims.compile import all_defaults
from edfi_api.core.security.claims.exchange import by_lineage, objects
from edfi_api.core.security.claims.model import ByAction, Claims, Grants
from edfi_api.core.security.claims.stored_claims import stored_claims
from edfi_api.core.security.models import ClaimSet, ResourceClaim
from edfi_api.features.management_api import problems, texts
from edfi_api.features.management_api.bodies import (
    NO_BLANKS,
    NOT_EMPTY,
    ONE_LINE,
    POSITIVE,
    Integer,
    LowerCasedObject,
    ManagementBody,
    Objects,
    Text,
    all_of,
    at_most,
)
from edfi_api.features.management_api.listing import EXACT, NUMBER, Listing
from edfi_api.features.management_api.v2.collections import DEFAULT_LIMIT, Version2, renamed
from edfi_api.features.management_api.v3.claim_sets import ClaimSetBody, ClaimSets, CopyBody, ImportBody
from edfi_api.features.management_api.v3.claim_sets import Grants as GrantsOfV3
from edfi_api.features.management_api.v3.resource_claims import ACTION_IDS, STRATEGY_IDS

_TAKEN = problems.invalid_data({"Name": [texts.V2.CLAIM_SET_TAKEN]})
_HAS_NAME = all_of(NOT_EMPTY, at_most(255), NO_BLANKS, ONE_LINE)


class ClaimSetBodyV2(ManagementBody, frozen=True, kw_only=True):
    """Of POST and PUT."""

    example = {"name": "Attendance"}

    name: Annotated[Text, _HAS_NAME] = None

    def translated(self) -> ManagementBody:
        return ClaimSetBody(claim_set_name=self.name)


class CopyBodyV2(ManagementBody, frozen=True, kw_only=True):
    """Of `POST claimSets/copy`."""

    example = {"originalId": 1, "name": "AttendanceOfLakeside"}

    original_id: Annotated[Integer, NOT_EMPTY, POSITIVE] = None
    name: Annotated[Text, _HAS_NAME] = None

    def translated(self) -> ManagementBody:
        return CopyBody(original_id=self.original_id, claim_set_name=self.name)


class ImportBodyV2(ClaimSetBodyV2, frozen=True, kw_only=True):
    """Of `POST claimSets/import`."""

    example = {
        "name": "AttendanceOf2027",
        "resourceClaims": [{"name": "people", "actions": [{"name": "Read", "enabled": True}]}],
    }

    resource_claims: Objects = None

    def translated(self) -> ManagementBody:
        return ImportBody(claim_set_name=self.name, resource_claims=self.resource_claims)


class ClaimSetsV2(Version2, ClaimSets):
    """Claim sets. One that applications use is not deleted."""

    singular = "claimset"
    title = "ClaimSet"
    bodies = {"create": ClaimSetBodyV2, "update": ClaimSetBodyV2, "copy": CopyBodyV2, "import_": ImportBodyV2}
    listing = Listing(
        order={"id": "pk", "name": "name"},
        filters=(Field("id", "pk", NUMBER), Field("name", "name", EXACT)),
        default_limit=DEFAULT_LIMIT,
    )
    refusals: ClassVar = dict.fromkeys(ClaimSets.refusals, _TAKEN)

    def represent(self, row: Any) -> dict[str, Any]:
        return renamed(super().represent(row), {"claimSetName": "name"})

    def item(self, row: ClaimSet) -> dict[str, Any]:
        claims = stored_claims(row.tenant)
        return self.represent(row) | {"resourceClaims": nested(claims.claim_sets[row.name].grants, claims)}

    def remove(self, row: ClaimSet) -> None:
        self.refuse_reserved(row, "deleted")
        if users := row.applications.count():
            raise problems.invalid_data({"Id": [texts.V2.CLAIM_SET_IN_USE.format(number=users)]})
        super().remove(row)

    def flat(self, sent: Sequence[LowerCasedObject], claims: Claims) -> list[dict[str, Any]]:
        return list(_flat(sent, claims, None))

    def reserved(self, row: ClaimSet, verb: str) -> problems.RequestRefused:
        return problems.invalid_data({"Id": [texts.V2.RESERVED.format(name=row.name)]})


class GrantsV2(ClaimSetsV2, GrantsOfV3):
    """The grants of a claim set one by one."""

    bodies = {**GrantsOfV3.bodies, **ClaimSetsV2.bodies}

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
    short = claim_of(name).lower()
    found = [each for each in claims.resource_claims if short_name(each).lower() == short]
    inside = [each for each in found if claims.resource_claims[each].parent == parent]
    return next(iter([*inside, *found]), name)
