"""`v3/authorizationMetadata`: what claim sets allow on each resource, in effect."""

from collections.abc import Mapping
from typing import Any

from rest_framework.request import Request
from rest_framework.response import Response

from edfi_api.data_stores.tenants import visible_to
from edfi_api.security.actions import actions_in_order
from edfi_api.security.claim_uris import claim_uri
from edfi_api.security.claims import granted_by
from edfi_api.security.claims_file import ByAction
from edfi_api.security.models import ClaimSet, ResourceClaim

from ..views import ManagementView


class AuthorizationMetadataView(ManagementView):
    """For programs that authorize by the claim sets of this server."""

    is_authorization_metadata = True

    def get(self, request: Request) -> Response:
        named = {key.lower(): value for key, value in request.query_params.items()}.get("claimsetname", "")
        rows = ClaimSet.objects.filter(visible_to(self.tenant)).order_by("name")
        if named:
            rows = rows.filter(name__iexact=str(named).replace("\0", "\ufffd"))
        return Response(authorization_metadata(list(rows)))


def authorization_metadata(claim_sets: list[ClaimSet]) -> list[dict[str, Any]]:
    """Resources only, each with the number of its authorization; equal ones have the same."""
    leaves = set(ResourceClaim.objects.filter(children=None).values_list("name", flat=True))
    granted = granted_by(claim_sets)
    described, number = [], 0
    for claim_set in claim_sets:
        effective = {name: by_action for name, by_action in granted[claim_set.pk].items() if name in leaves}
        numbers: dict[tuple[Any, ...], int] = {}
        claims = []
        for name in sorted(effective):
            key = _key(effective[name])
            if key not in numbers:
                number += 1
                numbers[key] = number
            claims.append({"name": claim_uri(name), "authorizationId": numbers[key]})
        authorizations = [{"id": each, "actions": _actions(key)} for key, each in numbers.items()]
        described.append({"claimSetName": claim_set.name, "claims": claims, "authorizations": authorizations})
    return described


def _key(by_action: Mapping[str, tuple[str, ...]] | ByAction) -> tuple[Any, ...]:
    return tuple((action, by_action[action]) for action in actions_in_order(dict(by_action)))


def _actions(key: tuple[Any, ...]) -> list[dict[str, Any]]:
    return [
        {"name": action, "authorizationStrategies": [{"name": name} for name in strategies]}
        for action, strategies in key
    ]
