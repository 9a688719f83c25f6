"""The route of the history of a document."""

from django.urls import URLPattern

from edfi_api import addresses
from edfi_api.addresses import below, fixed_path
from edfi_api.api.history.views import HistoryView
from edfi_api.api.viewsets.edfi_view import UnknownResourceView
from edfi_api.model.surface.resource import Surface
from edfi_api.startup import current_surface


def history_routes(surface: Surface) -> list[URLPattern]:
    """The routes of the documents of a surface."""
    return [
        fixed_path(f"{addresses.HISTORY}/<project>/<endpoint>/<document_id>", HistoryView.of(surface), "history"),
        below(addresses.HISTORY, UnknownResourceView.as_view(), "unknown-history"),
    ]


urlpatterns = history_routes(current_surface())
