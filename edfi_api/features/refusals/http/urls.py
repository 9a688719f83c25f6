"""The routes of the ledger for clients; none without a recorder."""

from django.urls import URLPattern

from edfi_api.common import addresses
from edfi_api.common.addresses import below, fixed_path
from edfi_api.core.served import current_surface
from edfi_api.features.refusals.http.views import (
    CausesView,
    RefusalsView,
    RefusalView,
    SubmissionsPageView,
    SummaryView,
)
from edfi_api.model.surface.resource import Surface
from edfi_api.web.viewsets.edfi_view import UnknownResourceView


def submission_routes(surface: Surface) -> list[URLPattern]:
    """The routes for clients of a surface."""
    root = addresses.SUBMISSIONS
    places = {resource.url_path: place for place, resource in enumerate(surface.resources)}
    return [
        fixed_path("submissions", SubmissionsPageView.as_view(), "submissions"),
        fixed_path(f"{root}/refusals", RefusalsView.as_view(places=places), "refusals"),
        fixed_path(f"{root}/refusals/<refusal_id>", RefusalView.as_view(places=places), "refusal"),
        fixed_path(f"{root}/causes", CausesView.as_view(places=places), "causes"),
        fixed_path(f"{root}/summary", SummaryView.as_view(places=places), "submission-summary"),
        below(root, UnknownResourceView.as_view(), "unknown-submissions"),
    ]


urlpatterns = submission_routes(current_surface())
