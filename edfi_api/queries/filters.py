"""The DRF filter backend for query-by-example."""

from typing import Any

from rest_framework.filters import BaseFilterBackend
from rest_framework.request import Request

from edfi_api.queries.parameters import CHANGE_VERSION_PARAMETERS, PAGING_PARAMETERS, PARTITION_PARAMETERS
from edfi_api.queries.selection import Selection

# Parameters that are not filters.
_OTHER = PAGING_PARAMETERS | CHANGE_VERSION_PARAMETERS
_OTHER_ON_PARTITIONS = PARTITION_PARAMETERS | CHANGE_VERSION_PARAMETERS


class QueryByExampleFilter(BaseFilterBackend):
    """Narrows a selection to the documents that match every filter of the query string."""

    # The stubs expect a QuerySet; Django REST framework passes on whatever `get_queryset` returns.
    def filter_queryset(self, request: Request, queryset: Selection, view: Any) -> Selection:  # type: ignore[override]
        other = _OTHER_ON_PARTITIONS if view.action == "partitions" else _OTHER
        narrowed: Selection = view.query_by_example.narrow(queryset, request.query_params, other, view.leniency)
        return narrowed
