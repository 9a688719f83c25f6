"""Query string of a list → the page of a query set."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from django.db.models import Model, Q, QuerySet
from django.http import QueryDict

from . import problems
from .bodies import integer

# A list without `limit` has all items, as in Ed-Fi's servers, but no more than this; then `Total-Count` says how many.
MOST_ITEMS = 10_000
# Of the versions.
DEFAULT_LIMITS: Mapping[str, int | None] = {"v3": None, "v2": 25}
_DIRECTIONS = {"asc": "", "ascending": "", "desc": "-", "descending": "-"}
_WRONG_DIRECTION = "The direction query parameter must be one of: asc, ascending, desc, descending."

Filter = Callable[[str], Q]


def exactly(lookup: str) -> Filter:
    """The text itself; NUL, which no stored text has, finds nothing."""
    return lambda value: Q(pk__in=[]) if "\0" in value else Q(**{lookup: value})


def number(lookup: str) -> Filter:
    return lambda value: Q(**{lookup: integer(value)})


@dataclass(frozen=True)
class Listing:
    """What a list can be ordered and filtered by: names of parameters, and what they mean for the rows."""

    order: Mapping[str, str]
    filters: Mapping[str, Filter] = field(default_factory=dict)
    default_limit: int | None = None
    default_order: str = "pk"


@dataclass(frozen=True)
class Page:
    """The rows of a page; `total` is given if there are more than a page can have."""

    rows: list[Any]
    total: int | None = None


def page(listing: Listing, rows: QuerySet[Any], query: QueryDict) -> Page:
    """The rows that the query selects. Raises a Refusal with all errors in it."""
    parameters = _in_lower_case(query)
    window = _Window.of(listing, parameters)
    for name, filter_ in listing.filters.items():
        value = parameters.get(name.lower())
        if value:
            rows = rows.filter(filter_(value))
    ordered = rows.order_by(*window.order)
    stop = window.offset + (window.limit or MOST_ITEMS)
    found = list(ordered[window.offset : stop])
    is_cut = window.limit is None and len(found) == MOST_ITEMS
    return Page(found, rows.count() if is_cut else None)


Row = dict[str, Any]


def in_memory(
    listing: Listing, rows: list[Row], query: QueryDict, filters: Mapping[str, Callable[[str, Row], bool]]
) -> list[Row]:
    """The same for items that are no rows of a table; orders are names of members."""
    parameters = _in_lower_case(query)
    window = _Window.of(listing, parameters)
    for name, filter_ in filters.items():
        if value := parameters.get(name.lower()):
            rows = [row for row in rows if filter_(value, row)]
    descending = window.order[0].startswith("-")
    member = window.order[0].removeprefix("-")
    ordered = sorted(rows, key=lambda row: row[member] if row[member] is not None else "", reverse=descending)
    return ordered[window.offset : window.offset + (window.limit or MOST_ITEMS)]


def _in_lower_case(query: QueryDict) -> dict[str, str]:
    return {name.lower(): str(value) for name, value in query.items()}


@dataclass(frozen=True)
class _Window:
    offset: int
    limit: int | None
    order: tuple[str, ...]

    @classmethod
    def of(cls, listing: Listing, parameters: Mapping[str, str]) -> "_Window":
        offset = integer(parameters.get("offset") or 0)
        given_limit = parameters.get("limit")
        limit = integer(given_limit) if given_limit else listing.default_limit
        direction = (parameters.get("direction") or "asc").lower()
        fields = {name.lower(): lookup for name, lookup in listing.order.items()}
        order_by = (parameters.get("orderby") or "").lower()
        errors = [
            text
            for text, is_wrong in (
                ("'offset' must be greater than or equal to 0.", offset < 0),
                ("'limit' must be greater than 0.", limit is not None and limit < 1),
                (_WRONG_DIRECTION, direction not in _DIRECTIONS),
                (
                    f"'orderBy' is not a valid field. Allowed values: {', '.join(listing.order)}.",
                    bool(fields and order_by) and order_by not in fields,
                ),
            )
            if is_wrong
        ]
        if errors:
            raise problems.invalid_parameters(errors)
        lookup = fields.get(order_by, listing.default_order)
        return cls(offset, limit, (_DIRECTIONS[direction] + lookup, "pk"))


def rows_of(model: type[Model], ids: list[int], visible: Q) -> tuple[list[Any], list[int]]:
    """The rows with these ids among the visible ones, each once, and the ids of none."""
    wanted = list(dict.fromkeys(ids))
    found = model._default_manager.filter(visible).in_bulk(wanted) if wanted else {}
    return [found[each] for each in wanted if each in found], [each for each in wanted if each not in found]
