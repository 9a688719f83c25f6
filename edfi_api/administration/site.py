"""The front page of the admin: beside the list of tables, how many documents there are, and which changed last."""

from typing import Any

from django.contrib.admin import AdminSite
from django.http import HttpRequest
from django.template.response import TemplateResponse

from edfi_api.administration import overview


class AdministrationSite(AdminSite):
    """Django's, for those who look after documents."""

    site_header = "Meadowlark"
    site_title = "Meadowlark"
    index_title = "Administration"
    index_template = "edfi_api/admin_index.html"

    def get_app_list(self, request: HttpRequest, app_label: str | None = None) -> list[dict[str, Any]]:
        """Documents first, then by name."""
        return sorted(super().get_app_list(request, app_label), key=lambda app: app["app_label"] != "edfi_api")

    def index(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> TemplateResponse:
        context = {}
        if request.user.has_perm("edfi_api.view_document"):
            counts = overview.counts()
            context = {
                "counts": [count for count in counts if not count.is_descriptor],
                "descriptors": sum(count.documents for count in counts if count.is_descriptor),
                "latest_changes": overview.latest_changes(),
            }
        return super().index(request, context | (extra_context or {}))
