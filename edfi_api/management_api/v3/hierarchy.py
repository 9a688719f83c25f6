"""The tree of resource claims, its default strategies, and the lists of actions and strategies."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from rest_framework.request import Request
from rest_framework.response import Response

from edfi_api.security.actions import Action
from edfi_api.security.claim_uris import claim_uri, short_name
from edfi_api.security.models import DefaultStrategies, ResourceClaim

from .. import problems
from ..bodies import integer
from ..listing import DEFAULT_LIMITS, Listing, in_memory
from ..resource_claims import ACTION_IDS, STRATEGY_IDS, display_name
from ..views import ManagementView

MISSING = {
    "v3": "ResourceClaim {id} not found.",
    "v2": "Not found: ResourceClaim with ID {id}. It may have been recently deleted.",
}


class ResourceClaimsView(ManagementView):
    """`GET resourceClaims` and `GET resourceClaims/{id}`: the tree, or what lies below one claim."""

    def get(self, request: Request, id: str | None = None) -> Response:
        roots, by_id = _tree()
        if id is not None:
            found = by_id.get(integer(id))
            if found is None:
                raise problems.not_found(MISSING[self.version].format(id=integer(id)))
            return Response(found)
        order = dict.fromkeys(("id", "name", "parentId", "parentName"))
        listing = Listing(
            order={name: name for name in order}, default_limit=DEFAULT_LIMITS[self.version], default_order="name"
        )
        filters = {"id": _number("id"), "name": _text("name")}
        return Response(in_memory(listing, roots, request.query_params, filters))


def _tree() -> tuple[list[dict[str, Any]], dict[int, dict[str, Any]]]:
    rows = list(ResourceClaim.objects.order_by("name").values_list("pk", "name", "parent_id", "parent__name"))
    by_id: dict[int, dict[str, Any]] = {
        pk: {
            "id": pk,
            "name": short_name(name),
            "parentId": parent or 0,
            "parentName": short_name(parent_name) if parent_name else None,
            "children": [],
        }
        for pk, name, parent, parent_name in rows
    }
    for pk, _, parent, _ in rows:
        if parent:
            by_id[parent]["children"].append(by_id[pk])
    return [by_id[pk] for pk, _, parent, _ in rows if not parent], by_id


class ResourceClaimActionsView(ManagementView):
    """`GET resourceClaimActions`: the claims that have default strategies, with their actions."""

    order: Sequence[str] = ("resourceClaimId", "resourceName")

    def get(self, request: Request) -> Response:
        listing = Listing(
            order={name: name for name in self.order},
            default_limit=DEFAULT_LIMITS[self.version],
            default_order="resourceClaimId",
        )
        filters = {"resourceName": _text("resourceName")}
        return Response(in_memory(listing, list(self._items()), request.query_params, filters))

    def described(self, by_action: Mapping[str, Sequence[str]]) -> dict[str, Any]:
        return {"actions": [{"name": action} for action in by_action]}

    def _items(self) -> Iterable[dict[str, Any]]:
        found: dict[tuple[int, str], dict[str, Sequence[str]]] = {}
        rows = DefaultStrategies.objects.order_by("resource_claim__name")
        for pk, name, action, strategies in rows.values_list(
            "resource_claim_id", "resource_claim__name", "action", "strategies"
        ):
            found.setdefault((pk, name), {})[action] = strategies
        for (pk, name), by_action in found.items():
            ordered = {action.value: by_action[action] for action in Action if action in by_action}
            head = {"resourceClaimId": pk, "resourceName": short_name(name), "claimName": claim_uri(name)}
            yield head | self.described(ordered)


class ResourceClaimActionAuthStrategiesView(ResourceClaimActionsView):
    """`GET resourceClaimActionAuthStrategies`: the same with the strategies."""

    order = ("resourceClaimId", "resourceName", "claimName")

    def described(self, by_action: Mapping[str, Sequence[str]]) -> dict[str, Any]:
        return {
            "authorizationStrategiesForActions": [
                {
                    "actionId": ACTION_IDS[action],
                    "actionName": action,
                    "authorizationStrategies": [
                        {"authStrategyId": STRATEGY_IDS.get(name, 0), "authStrategyName": name} for name in strategies
                    ],
                }
                for action, strategies in by_action.items()
            ]
        }


class ActionsView(ManagementView):
    """`GET actions`"""

    def get(self, request: Request) -> Response:
        rows = [
            {"id": number, "name": name, "uri": f"uri://ed-fi.org/api/actions/{name[0].lower()}{name[1:]}"}
            for name, number in ACTION_IDS.items()
        ]
        return Response(in_memory(_BY_ID, rows, request.query_params, {"id": _number("id"), "name": _text("name")}))


class AuthorizationStrategiesView(ManagementView):
    """`GET authorizationStrategies`"""

    def get(self, request: Request) -> Response:
        rows = [
            {"id": number, "name": name, "displayName": display_name(name)} for name, number in STRATEGY_IDS.items()
        ]
        return Response(in_memory(_BY_ID, rows, request.query_params, {}))


_BY_ID = Listing(order={"id": "id", "name": "name"}, default_order="id")


def _number(member: str) -> Callable[[str, Mapping[str, Any]], bool]:
    return lambda value, row: row[member] == integer(value)


def _text(member: str) -> Callable[[str, Mapping[str, Any]], bool]:
    return lambda value, row: row[member].lower() == value.lower()
