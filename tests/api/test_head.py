"""HEAD: what GET answers, without the body."""

import pytest

from tests.api.test_upsert import STUDENT
from tests.conftest import ApiTestClient, http, item_path, new_token

SOME_ID = "01a1fddd-f0aa-7623-8e9f-0e09a8ec83a9"


@pytest.fixture
def student(api):
    return item_path(api.post("/students", STUDENT))


def assert_same_but_for_the_body(api, path, **headers):
    """The answer to HEAD."""
    headers["HTTP_CORRELATIONID"] = "the-same"
    got, asked = api.get(path, **headers), api.request("head", path, **headers)

    assert (asked.status_code, asked.content) == (got.status_code, b"")
    assert dict(asked.items()) == dict(got.items())
    if got.status_code not in (204, 304):
        assert int(asked["Content-Length"]) == len(got.content) > 0
    return asked


@pytest.mark.parametrize(
    "path",
    [
        "/students?totalCount=true",
        "/students?limit=1",
        "/students?studentUniqueId=nobody",
        "/students/partitions",
        "/students/deletes?totalCount=true",
        "/students/keyChanges?totalCount=true",
        "/data/v3/ed-fi/gradeLevelDescriptors?totalCount=true",
        "/changeQueries/v1/availableChangeVersions",
    ],
)
def test_head_is_get_without_a_body(api, student, path):
    assert assert_same_but_for_the_body(api, path).status_code == 200


def test_head_of_a_collection_counts_it(api, student):
    answer = api.request("head", "/students?totalCount=true&limit=0")

    assert answer["Total-Count"] == "1"
    assert answer["Content-Length"] == "2"


def test_head_of_a_page_says_where_the_next_begins(api, student):
    assert "Next-Page-Token" in api.request("head", "/students")


def test_head_of_an_item_has_its_etag(api, student):
    answer = assert_same_but_for_the_body(api, student)

    assert answer.status_code == 200
    assert assert_same_but_for_the_body(api, student, HTTP_IF_NONE_MATCH=answer["ETag"]).status_code == 304


def test_head_of_related_documents(api, student):
    path = student.replace("/data/ed-fi", "/relations/v1/ed-fi")

    assert assert_same_but_for_the_body(api, path).status_code == 200


@pytest.mark.parametrize(
    ("path", "status"),
    [
        (f"/students/{SOME_ID}", 404),
        ("/students/12", 400),
        ("/students?colour=red", 400),
        ("/students?limit=no", 400),
        ("/unknowns", 404),
        (f"/relations/v1/ed-fi/students/{SOME_ID}", 404),
        ("/relations/v1/ed-fi/unknowns/1", 404),
    ],
)
def test_head_is_refused_as_get_is(api, path, status):
    assert assert_same_but_for_the_body(api, path).status_code == status


@pytest.mark.parametrize("path", ["/students", "/changeQueries/v1/availableChangeVersions"])
def test_head_needs_a_token(db, path):
    answer = assert_same_but_for_the_body(ApiTestClient("unknown"), path)

    assert answer.status_code == 401


@pytest.mark.parametrize("path", ["/staffs", f"/staffs/{SOME_ID}", "/staffs/deletes", "/staffs/partitions"])
def test_head_needs_the_claims_of_get(db, path):
    api = ApiTestClient(new_token("assessments", "AssessmentVendor"))  # It grants nothing on staff.

    assert assert_same_but_for_the_body(api, path).status_code == 403


def test_head_of_a_document_that_may_not_be_read_is_refused(api, student):
    other = ApiTestClient(new_token("district", "SISVendor", education_organization_ids=[122]))

    assert assert_same_but_for_the_body(other, student).status_code == 403
    assert other.request("head", "/students?totalCount=true")["Total-Count"] == "0"


@pytest.mark.parametrize("path", ["/", "/metadata", "/metadata/specifications", "/metadata/dependencies", "/health"])
def test_head_of_what_is_open_to_everyone(db, path):
    got, asked = http().get(path), http().head(path)

    assert (asked.status_code, asked.content) == (200, b"")
    assert asked["Content-Length"] == str(len(got.content))
