"""`management/view-claimsets` and `management/reload-claimsets` at the root of the data API, as Ed-Fi's Data Management
Service has them; open to everyone, so the URL map has them only with `MEADOWLARK_CLAIMS_UPLOAD`."""

from typing import Any

from django.urls import URLPattern
from rest_framework.request import Request
from rest_framework.response import Response

from edfi_api.addresses import fixed_path
from edfi_api.api.viewsets.open_view import OpenView
from edfi_api.conf import api_settings
from edfi_api.data_stores.exceptions import TenantUnknown
from edfi_api.data_stores.models import Tenant
from edfi_api.data_stores.tenants import tenant_named, visible_to
from edfi_api.problem_details.http_exceptions import ResourceNotFound
from edfi_api.security.claims import forget_compiled
from edfi_api.security.models import ClaimSet

from .v3.authorization_metadata import authorization_metadata


class _ClaimSetsView(OpenView):
    """`tenant_name` is the segment of the address, which servers with tenants need and others do not have."""

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
    """Nothing depends on it: changes of claim sets are noticed by themselves."""

    def post(self, request: Request, **kwargs: str) -> Response:
        forget_compiled()
        return Response(status=200)


def claim_set_routes() -> list[URLPattern]:
    """Both, with and without a tenant."""
    views = {"view-claimsets": ViewClaimSetsView, "reload-claimsets": ReloadClaimSetsView}
    return [
        fixed_path(f"management/{tenant}{name}", view.as_view(), f"management-{name}{'-of-tenant' if tenant else ''}")
        for name, view in views.items()
        for tenant in ("", "<tenant_name>/")
    ]
