"""Students, comparisons and orders of them, and what they mean in Python."""

from collections.abc import Callable
from operator import ge, gt, le, lt
from typing import Any
from urllib.parse import urlencode

from hypothesis import strategies as st

from tests.support.factories import STUDENT

DATES = ["2009-05-05", "2010-02-03", "2010-12-31", "2011-01-01"]
NAMES = ["Lee", "Leé", "ORTIZ", "Ortega", "o'Neil", "Oz%", "Oz_a", "ÉMILE"]
CITIES = [None, "Lyon", "Oslo", "lyon", "null", "11"]
NUMBER = 24
RANGES: dict[str, Callable[[Any, Any], bool]] = {"gt": gt, "gte": ge, "lt": lt, "lte": le}
FIELDS = {"birthDate": DATES, "lastSurname": NAMES, "birthCity": CITIES}
BODIES = [
    STUDENT
    | {"studentUniqueId": f"{n:02}", "birthDate": DATES[n * 7 % 4], "lastSurname": NAMES[n * 3 % 8]}
    | ({"birthCity": city} if (city := CITIES[n % 6]) else {})
    for n in range(NUMBER)
]


@st.composite
def comparisons(draw: st.DrawFn) -> tuple[str, str, str]:
    """Field, operator and text."""
    field = draw(st.sampled_from(list(FIELDS)))
    values = [value for value in FIELDS[field] if value is not None]
    value = draw(st.sampled_from(values))
    operator = draw(st.sampled_from([*RANGES, "ne", "exists", "in", *(["prefix"] if field != "birthDate" else [])]))
    match operator:
        case "exists":
            return field, operator, draw(st.sampled_from(["true", "false"]))
        case "in":
            return field, operator, ",".join(draw(st.lists(st.sampled_from(values), min_size=1)))
        case "prefix":
            length = draw(st.integers(0, len(value)))
            return field, operator, draw(st.sampled_from([str.lower, str.upper, str]))(value[:length])
    return field, operator, value


def holds(body: dict[str, Any], field: str, operator: str, text: str) -> bool:
    value = body.get(field)
    match operator:
        case "exists":
            return (value is not None) == (text == "true")
        case "ne":
            return bool(value != text)
        case "in":
            return value in text.split(",")
    if value is None:
        return False
    if operator == "prefix":
        return str(value).lower().startswith(text.lower())
    return RANGES[operator](value, text)


def ordered(bodies: list[dict[str, Any]], order: list[str]) -> list[dict[str, Any]]:
    """Missing values are less than others; equal ones in the order of rows, or its reverse if the first descends."""
    bodies = bodies[::-1] if order and order[0].startswith("-") else list(bodies)
    for term in reversed(order):
        name = term.removeprefix("-")
        bodies.sort(key=lambda body: (body.get(name) is not None, body.get(name) or ""), reverse=False) if (
            term == name
        ) else _sort_descending(bodies, name)
    return bodies


def _sort_descending(bodies: list[dict[str, Any]], name: str) -> None:
    bodies.reverse()
    bodies.sort(key=lambda body: (body.get(name) is not None, body.get(name) or ""))
    bodies.reverse()


def pages(api: Any, query: dict[str, Any], size: int) -> list[str]:
    """The unique ids of all pages."""
    found: list[str] = []
    paging: dict[str, Any] = {"limit": size}
    for _ in range(NUMBER + 2):
        page = api.get("/students?" + urlencode(query | paging))
        assert page.status_code == 200, page.content
        found += [body["studentUniqueId"] for body in page.json()]
        if "Next-Page-Token" not in page:
            return found
        paging = {"pageToken": page["Next-Page-Token"], "pageSize": size}
    raise AssertionError(f"The pages of {query} do not end.")
