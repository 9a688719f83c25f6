"""The routes of the history of documents."""

from edfi_api.common import addresses
from edfi_api.common.addresses import below, fixed_path
from edfi_api.core.startup import current_surface
from edfi_api.features.changes.history.views import HistoryView
from edfi_api.web.viewsets.edfi_view import UnknownResourceView

urlpatterns = [
    fixed_path(f"{addresses.HISTORY}/<project>/<endpoint>/<document_id>", HistoryView.of(current_surface()), "history"),
    below(addresses.HISTORY, UnknownResourceView.as_view(), "unknown-history"),
]
