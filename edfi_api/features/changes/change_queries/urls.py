"""URLs of change queries; `/deletes` and `/keyChanges` are routed with the resources."""

from edfi_api.common import addresses
from edfi_api.common.addresses import below, fixed_path
from edfi_api.features.changes.change_queries.views import AvailableChangeVersionsView
from edfi_api.web.viewsets.edfi_view import UnknownResourceView

urlpatterns = [
    fixed_path(addresses.AVAILABLE_CHANGE_VERSIONS, AvailableChangeVersionsView.as_view(), "available-change-versions"),
    below(addresses.CHANGE_QUERIES, UnknownResourceView.as_view(), "unknown-change-query"),
]
