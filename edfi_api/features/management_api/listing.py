"""Query string of a list → its page, by the rules and with the texts of Ed-Fi's Configuration Service."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import Model, Q, QuerySet
from django.http import QueryDict

from edfi_api.core.queries.listing.fields import Field, FieldType
from edfi_api.core.queries.listing.filters import FieldFilter, read_filters
from edfi_api.core.queries.listing.pages import Listed, listed
from edfi_api.core.queries.pagination import Page
from edfi_api.features.management_api import problems, texts
from edfi_api.features.management_api.bodies import int32, integer

# A list without `limit` has all items, as in Ed-Fi's servers, but no more than this; then `Total-Count` says how many.
MOST_ITEMS = 10_000
# Of the versions.
DEFAULT_LIMITS: Mapping[str, int | None] = {"v3": None, "v2": 25}
_DIRECTIONS = {"asc": "", "ascending": "", "desc": "-", "descending": "-"}

# No stored text has NUL.
EXACT = FieldType(lambda text: text.replace("\0", "\ufffd"))
ANY_CASE = FieldType(str.lower)
NUMBER = FieldType(int32, texts.UNREADABLE_PARAMETER)
Row = dict[str, Any]


@dataclass(frozen=True)
class Listing:
    """What a list can be ordered and filtered by. `order` has the lookups of a query set, or the members of items, by
    the names of `orderBy`."""

    order: Mapping[str, str]
    filters: Sequence[Field] = ()
    default_limit: int | None = None
    default_order: str = "pk"


def page(listing: Listing, rows: QuerySet[Any], query: QueryDict) -> Listed[Any]:
    """The rows that the query selects; their number, if there are more than a page can have. Raises RequestRefused
    with all errors in it."""
    window, order = _window(listing, query)
    for each in _filters(listing, query):
        rows = rows.filter(Q(**{each.field.source: each.value}))
    found = list(listed(rows.order_by(order, "pk"), window).rows)
    is_cut = listing.default_limit is None and len(found) == MOST_ITEMS == window.size
    return Listed(found, rows.count() if is_cut else None)


def page_of_items(listing: Listing, items: Sequence[Row], query: QueryDict) -> list[Row]:
    """The same for items that are no rows of a table."""
    window, order = _window(listing, query)
    for each in _filters(listing, query):
        source, read = each.field.source, each.field.type.read
        items = [item for item in items if read(item[source]) == each.value]
    member = order.removeprefix("-")
    ordered = sorted(items, key=lambda item: item[member] if item[member] is not None else "", reverse=order[0] == "-")
    return ordered[window.offset : window.offset + window.size]


def _filters(listing: Listing, query: QueryDict) -> list[FieldFilter]:
    """Unknown parameters are ignored, and empty ones are none."""
    found = read_filters(listing.filters, query, None)
    if messages := dict.fromkeys(each.message for each in found.unreadable if each.text):
        raise problems.invalid_parameters(list(messages))
    return [each for each in found.read if each.value not in ("", [""])]


def _window(listing: Listing, query: QueryDict) -> tuple[Page, str]:
    """The page, and the order of its rows."""
    given = {name.lower(): str(value) for name, value in query.items()}
    offset = integer(given.get("offset") or 0)
    limit = integer(given["limit"]) if given.get("limit") else listing.default_limit
    direction = (given.get("direction") or "asc").lower()
    order_by = (given.get("orderby") or "").lower()
    orders = {name.lower(): lookup for name, lookup in listing.order.items()}
    errors = {
        texts.NEGATIVE_OFFSET: offset < 0,
        texts.NO_LIMIT: limit is not None and limit < 1,
        texts.UNKNOWN_DIRECTION: direction not in _DIRECTIONS,
        texts.UNKNOWN_ORDER.format(names=", ".join(listing.order)): bool(orders) and order_by not in {"", *orders},
    }
    if any(errors.values()):
        raise problems.invalid_parameters([text for text, is_wrong in errors.items() if is_wrong])
    order = _DIRECTIONS[direction] + orders.get(order_by, listing.default_order)
    return Page(MOST_ITEMS if limit is None else limit, offset), order


def rows_of(model: type[Model], ids: Sequence[int] | None, visible: Q) -> tuple[list[Any], list[int]]:
    """The rows with these ids among the visible ones, each once, and the ids of none."""
    wanted = list(dict.fromkeys(ids or ()))
    found = model._default_manager.filter(visible).in_bulk(wanted) if wanted else {}
    return [found[each] for each in wanted if each in found], [each for each in wanted if each not in found]
