"""Any comparisons and orders of a query, against the same in Python over the bodies."""

import base64
import json
import os
from collections.abc import Callable
from operator import ge, gt, le, lt
from typing import Any
from urllib.parse import urlencode

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.factories import STUDENT

DATES = ["2009-05-05", "2010-02-03", "2010-12-31", "2011-01-01"]
NAMES = ["Lee", "Leé", "ORTIZ", "Ortega", "o'Neil", "Oz%", "Oz_a", "ÉMILE"]
CITIES = [None, "Lyon", "Oslo", "lyon", "null", "11"]
NUMBER = 24
EXAMPLES = int(os.environ.get("EXAMPLES", "40"))
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


@pytest.fixture
def students(api):
    for body in BODIES:
        assert api.post("/students", body).status_code == 201
    return api


@settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    found=st.lists(comparisons(), max_size=3),
    order=st.lists(st.sampled_from(list(FIELDS)), unique=True, max_size=3).flatmap(
        lambda names: st.tuples(*(st.sampled_from([name, f"-{name}"]) for name in names))
    ),
    size=st.integers(1, NUMBER),
)
def test_any_query_is_answered_as_by_python(students, found, order, size):
    query = {f"{field}[{operator}]": text for field, operator, text in found}
    expected = [
        body
        for body in BODIES
        if all(holds(body, *key.removesuffix("]").split("["), text) for key, text in query.items())
    ]
    if order:
        query["orderBy"] = ",".join(order)

    assert pages(students, query, size) == [body["studentUniqueId"] for body in ordered(expected, list(order))]
    counted = students.get("/students?" + urlencode(query | {"totalCount": "true", "limit": 0}))
    assert counted["Total-Count"] == str(len(expected))


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


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.recursive(st.none() | st.integers() | st.text(max_size=3), lambda inner: st.lists(inner, max_size=3)))
def test_no_made_up_token_is_an_error_of_the_server(students, content):
    text = base64.urlsafe_b64encode(json.dumps(content).encode()).decode()

    response = students.get(f"/students?orderBy=birthDate&pageSize=1&pageToken={text}")

    assert response.status_code == 400
