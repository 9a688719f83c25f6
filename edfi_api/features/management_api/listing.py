"""Query string of a list → its page, by the rules and with the texts of Ed-Fi's Configuration Service."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from django.db.models import Model, Q
from rest_framework.filters import BaseFilterBackend
from rest_framework.pagination import BasePagination
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.serializers import Serializer

from edfi_api.core.queries.listing import Field, FieldFilter, FieldType, Listed, listed, read_filters
from edfi_api.core.queries.pagination import Page
from edfi_api.features.management_api import problems, texts
from edfi_api.features.management_api.bodies import Integer, int32, integer

# A list without `limit` has all items, as in Ed-Fi's servers, but no more than this; then `Total-Count` says how many.
MOST_ITEMS = 10_000
# The limit of a request without one, by version.
_DEFAULT_LIMITS: Mapping[str, int | None] = {"v3": None, "v2": 25}
_DIRECTIONS = {"asc": "", "ascending": "", "desc": "-", "descending": "-"}

# No stored text has NUL.
EXACT = FieldType(lambda text: text.replace("\0", "\ufffd"))
ANY_CASE = FieldType(str.lower)
NUMBER = FieldType(int32, texts.UNREADABLE_PARAMETER)
Row = dict[str, Any]


@dataclass(frozen=True)
class Listing:
    """The members by which a list can be ordered and filtered: columns, which have the names of the members of which
    they are the sources, or fields by themselves. `is_paged` says whether pages are as short as the version has
    them."""

    order: Sequence[str | Field] = ()
    filters: Sequence[str | Field] = ()
    default_order: str = "pk"
    is_paged: bool = True


UNFILTERED = Listing()
BY_NAME = Listing(("pk", "name"), ("pk", "name"))


@cache
def fields_of(columns: Sequence[str | Field], serializer: type[Serializer[Any]] | None) -> Sequence[Field]:
    """The fields of columns. Items that are no rows of a table have no serializer, and their members for columns."""
    members = {each.source: each for each in serializer().fields.values()} if serializer else {}
    found = [_field(each, members.get(each)) if isinstance(each, str) else each for each in columns]
    return list({each.name: each for each in found}.values())


def _field(column: str, member: Any) -> Field:
    name = member.field_name if member else column
    return Field(name, column, NUMBER if isinstance(member, Integer) else EXACT)


class ListingFilter(BaseFilterBackend):
    """The rows that the parameters of `view.listing` select, in their order. Unknown parameters are ignored, and empty
    ones are none. Items that are no rows of a table are a list of objects."""

    def filter_queryset(self, request: Request, queryset: Any, view: Any) -> Any:
        order = _order(request, view)
        wanted = _filters(view, request)
        if isinstance(queryset, list):
            return _filtered_items(queryset, wanted, order)
        for each in wanted:
            queryset = queryset.filter(Q(**{each.field.source: each.value}))
        return queryset.order_by(order, "pk")


class ListingPagination(BasePagination):
    """A page by `limit` and `offset`."""

    total: int | None = None

    def paginate_queryset(self, queryset: Any, request: Request, view: Any = None) -> list[Any]:
        offset, limit = _window(request, view)
        size = MOST_ITEMS if limit is None else limit
        found = list(listed(queryset, Page(size, offset)).rows)
        if len(found) == MOST_ITEMS == size and _DEFAULT_LIMITS[view.version] is None:
            self.total = queryset.count()
        return found

    def get_paginated_response(self, data: Any) -> Response:
        return Response(data, headers=Listed(data, self.total).headers)


def _filtered_items(items: list[Row], wanted: Sequence[FieldFilter], order: str) -> list[Row]:
    for each in wanted:
        source, read = each.field.source, each.field.type.read
        items = [item for item in items if read(item[source]) == each.value]
    member = order.removeprefix("-")
    return sorted(items, key=lambda item: item[member] if item[member] is not None else "", reverse=order[0] == "-")


def _filters(view: Any, request: Request) -> list[FieldFilter]:
    found = read_filters(fields_of(view.listing.filters, view.serializer_class), request.query_params, None)
    if messages := dict.fromkeys(each.message for each in found.unreadable if each.text):
        raise problems.invalid_parameters(list(messages))
    return [each for each in found.read if each.value not in ("", [""])]


def _given(request: Request) -> dict[str, str]:
    return {name.lower(): str(value) for name, value in request.query_params.items()}


def _window(request: Request, view: Any) -> tuple[int, int | None]:
    """The offset, and the limit."""
    given = _given(request)
    default = _DEFAULT_LIMITS[view.version] if view.listing.is_paged else None
    return integer(given.get("offset") or 0), integer(given["limit"]) if given.get("limit") else default


def _order(request: Request, view: Any) -> str:
    """The order of the rows. Raises RequestRefused with all that is wrong with it or with the page."""
    given = _given(request)
    offset, limit = _window(request, view)
    direction, order_by = (given.get("direction") or "asc").lower(), (given.get("orderby") or "").lower()
    allowed = {each.name: each.source for each in fields_of(view.listing.order, view.serializer_class)}
    orders = {name.lower(): source for name, source in allowed.items()}
    errors = {
        texts.NEGATIVE_OFFSET: offset < 0,
        texts.NO_LIMIT: limit is not None and limit < 1,
        texts.UNKNOWN_DIRECTION: direction not in _DIRECTIONS,
        texts.UNKNOWN_ORDER.format(names=", ".join(allowed)): bool(orders) and order_by not in {"", *orders},
    }
    if any(errors.values()):
        raise problems.invalid_parameters([text for text, is_wrong in errors.items() if is_wrong])
    return _DIRECTIONS[direction] + str(orders.get(order_by, view.listing.default_order))


def rows_of(model: type[Model], ids: Sequence[int], visible: Q) -> tuple[list[Any], list[int]]:
    """The rows with these ids among the visible ones, each once, and the ids of none."""
    wanted = list(dict.fromkeys(ids))
    found = model._default_manager.filter(visible).in_bulk(wanted) if wanted else {}
    return [found[each] for each in wanted if each in found], [each for each in wanted if each not in found]
