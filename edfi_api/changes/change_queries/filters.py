"""The DRF filter backend for minChangeVersion and maxChangeVersion."""

from typing import Any

from rest_framework.filters import BaseFilterBackend
from rest_framework.request import Request

from edfi_api.changes.change_queries.windows import read_window
from edfi_api.queries.parameters import last_values
from edfi_api.queries.selection import Order, Selection


class ChangeVersionFilter(BaseFilterBackend):
    """Narrows a selection to documents whose current version is in the requested window.

    Pages by limit and offset of a window with an upper bound are in version order
    (meadowlark/docs/reference/contract.md#paging).
    """

    def filter_queryset(self, request: Request, queryset: Selection, view: Any) -> Selection:  # type: ignore[override]
        window = read_window(request.query_params)
        documents = queryset.within(window)
        if window.is_bounded and "pagetoken" not in last_values(request.query_params):
            return documents.ordered_by(Order.CHANGE_VERSION)
        return documents
