"""Any comparisons and orders of a query, against the same in Python over the bodies."""

import base64
import json
from urllib.parse import urlencode

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.core.queries.students_in_python import BODIES, FIELDS, NUMBER, comparisons, holds, ordered, pages
from tests.support.examples import examples


@pytest.fixture
def students(api):
    for body in BODIES:
        assert api.post("/students", body).status_code == 201
    return api


@settings(max_examples=examples(20), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
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


@settings(max_examples=examples(40), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.recursive(st.none() | st.integers() | st.text(max_size=3), lambda inner: st.lists(inner, max_size=3)))
def test_no_made_up_token_is_an_error_of_the_server(students, content):
    text = base64.urlsafe_b64encode(json.dumps(content).encode()).decode()

    response = students.get(f"/students?orderBy=birthDate&pageSize=1&pageToken={text}")

    assert response.status_code == 400
