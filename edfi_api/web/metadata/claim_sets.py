"""What claim sets allow on each resource, in effect: `management/view-claimsets` and `management/reload-claimsets` at
the root of the data API, as Ed-Fi's Data Management Service has them."""

from collections.abc import Mapping
from typing import Any

from django.urls import URLPattern
from rest_framework.request import Request
from rest_framework.response import Response

from edfi_api.common.addresses import fixed_path
from edfi_api.common.conf import api_settings
from edfi_api.core.data_stores.exceptions import TenantUnknown
from edfi_api.core.data_stores.models import Tenant
from edfi_api.core.data_stores.stores import tenant_named, visible_to
from edfi_api.core.security.claim_names import actions_in_order, claim_uri
from edfi_api.core.security.claims.compile import forget_compiled, granted_by
from edfi_api.core.security.claims.model import ByAction
from edfi_api.core.security.models import ClaimSet, ResourceClaim
from edfi_api.web.problem_details.http_exceptions import ResourceNotFound
from edfi_api.web.viewsets.edfi_view import OpenView


class _ClaimSetsView(OpenView):
    """A view that is open to everyone, so that the URL map has it only with `MEADOWLARK_CLAIMS_UPLOAD`. `tenant_name`
    is the segment of the address, which servers with tenants need and others do not have."""

    tenant: Tenant | None

    def initial(self, request: Request, *args: Any, tenant_name: str = "", **kwargs: Any) -> None:
        super().initial(request, *args, **kwargs)
        if tenant_name and not api_settings.MULTI_TENANCY:
            raise ResourceNotFound
        self.tenant = tenant_named(tenant_name.replace("\0", "")) if tenant_name else None
        if api_settings.MULTI_TENANCY and self.tenant is None:
            raise TenantUnknown


class ViewClaimSetsView(_ClaimSetsView):
    """The authorization metadata of all claim sets that the tenant can use."""

    def get(self, request: Request, **kwargs: str) -> Response:
        rows = ClaimSet.objects.filter(visible_to(self.tenant)).order_by("name")
        return Response(authorization_metadata(list(rows)))


class ReloadClaimSetsView(_ClaimSetsView):
    """Does nothing: changes of claim sets are noticed by themselves."""

    def post(self, request: Request, **kwargs: str) -> Response:
        forget_compiled()
        return Response(status=200)


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


def claim_set_routes() -> list[URLPattern]:
    """Return the routes of both views, with and without a tenant."""
    views = {"view-claimsets": ViewClaimSetsView, "reload-claimsets": ReloadClaimSetsView}
    return [
        fixed_path(f"management/{tenant}{name}", view.as_view(), f"management-{name}{'-of-tenant' if tenant else ''}")
        for name, view in views.items()
        for tenant in ("", "<tenant_name>/")
    ]
