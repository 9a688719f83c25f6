"""The DRF filter backend for query-by-example."""

from typing import Any

from rest_framework.filters import BaseFilterBackend
from rest_framework.request import Request

from edfi_api.queries.collection import Selection
from edfi_api.queries.parameters import (
    CHANGE_VERSION_PARAMETERS,
    PAGING_PARAMETERS,
    PARTITION_PARAMETERS,
    read_filters,
)
from edfi_api.queries.query_by_example import narrow


class QueryByExampleFilter(BaseFilterBackend):
    """Narrows a selection to the documents that match every filter of the query string."""

    # The stubs expect a QuerySet; Django REST framework passes on whatever `get_queryset` returns.
    def filter_queryset(self, request: Request, queryset: Selection, view: Any) -> Selection:  # type: ignore[override]
        beside = PARTITION_PARAMETERS if view.action == "partitions" else PAGING_PARAMETERS
        return narrow(
            queryset,
            view.resource,
            read_filters(view.resource, request.query_params, beside | CHANGE_VERSION_PARAMETERS),
        )
