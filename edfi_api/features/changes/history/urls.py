"""The routes of the history of documents."""

from django.urls import URLPattern

from edfi_api.common import addresses
from edfi_api.common.addresses import below, fixed_path
from edfi_api.core.served import current_surface
from edfi_api.features.changes.history.views import HistoryView
from edfi_api.model.surface.resource import Surface
from edfi_api.web.viewsets.edfi_view import UnknownResourceView


def history_routes(surface: Surface) -> list[URLPattern]:
    """The routes of the versions of a surface's documents."""
    versions = f"{addresses.HISTORY}/<project>/<endpoint>/<document_id>"
    return [
        fixed_path(versions, HistoryView.of(surface), "history"),
        below(addresses.HISTORY, UnknownResourceView.as_view(), "unknown-history"),
    ]


urlpatterns = history_routes(current_surface())
