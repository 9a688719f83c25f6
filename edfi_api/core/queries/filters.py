"""The DRF filter backends for query-by-example and for the order of a page."""

from typing import Any

from rest_framework.filters import BaseFilterBackend
from rest_framework.request import Request

from edfi_api.core.queries.ordering import ORDER_PARAMETER
from edfi_api.core.queries.parameters import (
    CHANGE_VERSION_PARAMETERS,
    PAGING_PARAMETERS,
    PARTITION_PARAMETERS,
    last_values,
)
from edfi_api.core.queries.requested_members import MEMBERS_PARAMETER
from edfi_api.core.queries.selection import Selection

# Parameters that are not filters.
_OTHER = PAGING_PARAMETERS | CHANGE_VERSION_PARAMETERS | {ORDER_PARAMETER, MEMBERS_PARAMETER}
_OTHER_ON_PARTITIONS = PARTITION_PARAMETERS | CHANGE_VERSION_PARAMETERS | {ORDER_PARAMETER}


class QueryByExampleFilter(BaseFilterBackend):
    """Narrows a selection to the documents that match every filter of the query string."""

    # The stubs expect a QuerySet; Django REST framework passes on whatever `get_queryset` returns.
    def filter_queryset(self, request: Request, queryset: Selection, view: Any) -> Selection:  # type: ignore[override]
        other = _OTHER_ON_PARTITIONS if view.action == "partitions" else _OTHER
        narrowed: Selection = view.query_by_example.narrow(
            queryset, request.query_params, other, view.leniency, view.reads_all
        )
        return narrowed


class OrderFilter(BaseFilterBackend):
    """Puts a selection in the order of `orderBy`, behind the position of a page token of this order."""

    def filter_queryset(self, request: Request, queryset: Selection, view: Any) -> Selection:  # type: ignore[override]
        given = last_values(request.query_params)
        if ORDER_PARAMETER not in given or view.action == "partitions":
            return queryset
        order_by = view.query_by_example.order(given[ORDER_PARAMETER][1])
        if "pagetoken" in given:
            order_by = order_by.behind(given["pagetoken"][1])
        return queryset.in_order_of(order_by)
