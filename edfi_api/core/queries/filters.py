"""The DRF filter backends for query-by-example and for the order of a page."""

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from rest_framework.filters import BaseFilterBackend
from rest_framework.request import Request

from edfi_api.core.documents.member_names import OtherNames
from edfi_api.core.documents.visible_part import TextProjection, compile_text_projection
from edfi_api.core.queries.exceptions import ParameterValidationFailed
from edfi_api.core.queries.parameters import (
    CHANGE_VERSION_PARAMETERS,
    PAGING_PARAMETERS,
    PARTITION_PARAMETERS,
    last_values,
)
from edfi_api.core.queries.selection import ORDER_PARAMETER, Selection
from edfi_api.model.profiles.view import ObjectView
from edfi_api.model.surface.naming import EXTENSIONS
from edfi_api.model.surface.resource import Resource

MEMBERS_PARAMETER = "fields"
# Every document that is served has these members.
_ALWAYS = ("id", "_etag", "_lastModifiedDate")

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
    """Puts a selection in the order of `orderBy`, after the position of a page token of this order."""

    def filter_queryset(self, request: Request, queryset: Selection, view: Any) -> Selection:  # type: ignore[override]
        given = last_values(request.query_params)
        if ORDER_PARAMETER not in given or view.action == "partitions":
            return queryset
        order_by = view.query_by_example.order(given[ORDER_PARAMETER][1])
        if "pagetoken" in given:
            order_by = order_by.starting_after(given["pagetoken"][1])
        return queryset.in_order_of(order_by)


def requested_members(query: Mapping[str, str], resource: Resource, view: ObjectView | None) -> TextProjection | None:
    """The function from the text of a served body, which a profile may have narrowed to `view`, to that of the members
    that `fields` names, with those of the identity; None without `fields`.

    Raises ParameterValidationFailed for names that are no members of the resource, or hidden ones.
    """
    given = last_values(query).get(MEMBERS_PARAMETER)
    if given is None:
        return None
    served = OtherNames.of(resource.served_names).own
    members = (name for name in resource.json_schema["properties"] if view is None or _shows(view, name))
    visible = {name: served.get(name, name) for name in members}
    visible |= {name: name for name in visible.values()}
    names = {name.strip() for name in given[1].split(",")}.difference(_ALWAYS)
    for name in sorted(names - visible.keys()):
        raise ParameterValidationFailed([f"Fields must have members of the resource; '{name}' is not one."])
    identity = {path.steps[0] for path in resource.identity}
    return _projection(frozenset({visible.get(name, name) for name in names} | {served.get(n, n) for n in identity}))


def _shows(view: ObjectView, name: str) -> bool:
    if name == EXTENSIONS:
        return bool(view.whole_extensions or view.narrowed_extensions)
    return view.shows(name)


@lru_cache(maxsize=256)
def _projection(names: frozenset[str]) -> TextProjection:
    return compile_text_projection(ObjectView(whole=names))
