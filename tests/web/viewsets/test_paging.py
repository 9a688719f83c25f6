"""Collections: limit, offset, totals, and errors for parameters out of range."""

import pytest

from tests.support.factories import STUDENT
from tests.web.viewsets.students import unique_ids


@pytest.fixture
def five_students(api):
    for number in range(5):
        assert api.post("/students", STUDENT | {"studentUniqueId": str(number)}).status_code == 201


def test_an_empty_collection_is_an_empty_array(api):
    response = api.get("/students")

    assert response.content == b"[]"
    assert response["Content-Type"] == "application/json; charset=utf-8"


def test_documents_come_in_the_order_they_were_inserted(api, five_students):
    api.post("/students", STUDENT | {"studentUniqueId": "0", "firstName": "Changed"})

    assert unique_ids(api.get("/students")) == ["0", "1", "2", "3", "4"]


def test_limit_and_offset_select_a_page(api, five_students):
    assert unique_ids(api.get("/students?limit=2&offset=1")) == ["1", "2"]
    assert unique_ids(api.get("/students?LIMIT=2&Offset=4")) == ["4"]
    assert unique_ids(api.get("/students?offset=9")) == []


def test_the_total_is_sent_on_request(api, five_students):
    response = api.get("/students?limit=0&totalCount=True")

    assert response.content == b"[]"
    assert response["Total-Count"] == "5"
    assert "Total-Count" not in api.get("/students")


def test_other_resources_are_not_counted(api, five_students, documents, resource_named):
    documents.store(resource_named("Staff"))

    assert api.get("/students?totalCount=true")["Total-Count"] == "5"


def test_the_default_limit_is_25(api):
    for number in range(26):
        api.post("/students", STUDENT | {"studentUniqueId": str(number)})

    assert len(api.get("/students").json()) == 25


def test_the_last_value_of_a_repeated_parameter_applies(api, five_students):
    assert unique_ids(api.get("/students?limit=1&limit=2")) == ["0", "1"]


@pytest.mark.parametrize("offset", ["-1", "x", "", "1.5", "9" * 30, "٣"])
def test_an_offset_out_of_range_is_refused(api, offset):
    response = api.get(f"/students?offset={offset}")

    assert response.status_code == 400
    problem = response.json()
    assert problem["type"] == "urn:ed-fi:api:bad-request:parameter-validation-failed"
    assert problem["errors"] == ["Offset must be a numeric value greater than or equal to 0."]


def test_all_invalid_paging_parameters_are_reported_in_order(api):
    response = api.get("/students?totalCount=perhaps&limit=501&offset=-1&unknown=1")

    assert response.status_code == 400
    assert response.json()["errors"] == [
        "Offset must be a numeric value greater than or equal to 0.",
        "Limit must be omitted or set to a numeric value between 0 and 500.",
        "TotalCount must be a boolean value.",
    ]
