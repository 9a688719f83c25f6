"""The tenants of version 2."""

from typing import Any

from rest_framework.request import Request
from rest_framework.response import Response

from edfi_api.data_stores.models import Tenant
from edfi_api.data_stores.tenants import tenant_named

from .. import access, problems
from ..views import ManagementView


class TenantsView(ManagementView):
    """`v2/tenants`, by name. Where their data lies is not said."""

    version = "v2"
    has_tenants = False

    def get(self, request: Request, name: str | None = None) -> Response:
        if not access.is_multi_tenant():
            raise problems.not_found()
        if name is None:
            return Response([_described(tenant) for tenant in Tenant.objects.all()])
        found = tenant_named(name.replace("\0", ""))
        if found is None:
            raise problems.not_found(f"Not found: tenant with ID {name}. It may have been recently deleted.")
        return Response(_described(found))


def _described(tenant: Tenant) -> dict[str, Any]:
    nowhere = {"host": None, "database": None}
    return {
        "tenantName": tenant.name,
        "adminConnectionString": nowhere,
        "securityConnectionString": nowhere,
    }
