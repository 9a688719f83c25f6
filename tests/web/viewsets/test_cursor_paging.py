"""Paging by page token, and partitions for concurrent readers."""

from itertools import chain

import pytest

from tests.support.factories import STUDENT
from tests.web.viewsets.students import unique_ids


@pytest.fixture
def seven_students(api):
    for number in range(7):
        body = STUDENT | {"studentUniqueId": str(number), "firstName": "Even" if number % 2 == 0 else "Odd"}
        assert api.post("/students", body).status_code == 201


def pages_of(api, token, query="pageSize=3"):
    """All pages, up to the one without a token for the next."""
    pages = []
    while token:
        response = api.get(f"/students?pageToken={token}&{query}")
        pages.append(unique_ids(response))
        token = response.get("Next-Page-Token")
    return pages


def test_a_first_page_has_the_token_of_the_next(api, seven_students):
    first = api.get("/students?limit=2")

    assert unique_ids(first) == ["0", "1"]
    assert pages_of(api, first["Next-Page-Token"]) == [["2", "3", "4"], ["5", "6"], []]


def test_an_empty_page_has_no_token(api):
    assert "Next-Page-Token" not in api.get("/students")


def test_filters_apply_to_cursor_paging(api, seven_students):
    first = api.get("/students?limit=1&firstName=Odd")

    assert pages_of(api, first["Next-Page-Token"], "pageSize=2&firstName=Odd") == [["3", "5"], []]


def test_documents_written_during_cursor_paging_are_seen_once(api, seven_students):
    first = api.get("/students?limit=5")
    api.post("/students", STUDENT | {"studentUniqueId": "0", "firstName": "Changed"})
    api.post("/students", STUDENT | {"studentUniqueId": "7"})

    assert pages_of(api, first["Next-Page-Token"]) == [["5", "6", "7"], []]


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("pageSize=3&offset=1", "Use limit instead of pageSize when using limit/offset paging."),
        ("pageSize=3&offset=1&limit=2", "PageToken is required when pageSize is specified."),
        ("pageSize=3", "PageToken is required when pageSize is specified."),
        ("pageToken=x!", "The page token provided was invalid."),
        ("pageToken=", "The page token provided was invalid."),
        ("pageToken=%C3%A4", "The page token provided was invalid."),
        ("pageToken=OTk5OTk5OTk5OTk5OTk5OTk5OSwx", "The page token provided was invalid."),
        ("pageToken={}&offset=1&limit=1", "Both offset and pageToken parameters were provided"),
        ("pageToken={}&limit=1", "Use pageSize instead of limit when using cursor paging with pageToken."),
        ("pageToken={}&totalCount=TRUE", "The totalCount parameter cannot be set to true when using cursor paging"),
        ("pageToken={}&pageSize=501", "PageSize must be a value between 0 and 500."),
        ("pageToken={}&totalCount=x", "TotalCount must be a boolean value."),
    ],
)
def test_only_the_first_problem_of_cursor_paging_is_reported(api, seven_students, query, message):
    token = api.get("/students?limit=1")["Next-Page-Token"]

    response = api.get("/students?" + query.format(token))

    assert response.status_code == 400
    assert response.json()["type"] == "urn:ed-fi:api:bad-request:parameter-validation-failed"
    assert len(response.json()["errors"]) == 1
    assert response.json()["errors"][0].startswith(message)


@pytest.fixture
def small_pages(settings):
    """The minimum size of a partition is two documents, instead of 2500."""
    settings.EDFI_API = settings.EDFI_API | {"MAX_PAGE_SIZE": 2, "DEFAULT_PAGE_SIZE": 2}


def test_partitions_together_cover_every_document_once(api, small_pages):
    for number in range(25):
        api.post("/students", STUDENT | {"studentUniqueId": str(number)})

    response = api.get("/students/partitions?number=2")

    tokens = response.json()["pageTokens"]
    parts = [list(chain(*pages_of(api, token, "pageSize=2"))) for token in tokens]
    assert [len(part) for part in parts] == [13, 12]
    assert list(chain(*parts)) == [str(number) for number in range(25)]
    assert "Next-Page-Token" not in response


def test_partitions_are_never_smaller_than_five_pages(api, small_pages):
    for number in range(25):
        api.post("/students", STUDENT | {"studentUniqueId": str(number)})

    assert len(api.get("/students/partitions").json()["pageTokens"]) == 3


def test_partitions_of_a_filtered_collection(api, seven_students):
    assert len(api.get("/students/partitions?firstName=Odd").json()["pageTokens"]) == 1
    assert api.get("/students/Partitions?firstName=None").json() == {"pageTokens": []}


@pytest.mark.parametrize(
    ("query", "errors"),
    [
        ("number=0", ["Number of partitions must be between 1 and 200."]),
        ("number=x", ["Number of partitions must be between 1 and 200."]),
        (
            "number=201&limit=1&pageToken=x",
            [
                "Number of partitions must be between 1 and 200.",
                "The 'limit' parameter is not supported by the partitions endpoint.",
                "The 'pageToken' parameter is not supported by the partitions endpoint.",
            ],
        ),
        ("colour=red&number=0", ["The query field 'colour' is not valid for this resource."]),
    ],
)
def test_partitions_refuse_other_parameters(api, query, errors):
    response = api.get(f"/students/partitions?{query}")

    assert response.status_code == 400
    assert response.json()["errors"] == errors


@pytest.mark.parametrize("method", ["post", "put", "delete"])
def test_partitions_are_read_only(api, method):
    response = api.request(method, "/students/partitions")

    assert response.status_code == 405
    assert response["Allow"] == "GET, HEAD"
    assert response.json()["errors"] == [f"The endpoint of the request does not support the '{method.upper()}' method."]


def test_partitions_of_an_unknown_resource_are_not_found(api):
    assert api.get("/unknowns/partitions").status_code == 404
