"""HEAD answers as GET, without the body."""

import pytest

from tests.conftest import ApiTestClient, http, item_path, new_token
from tests.support.factories import STUDENT

SOME_ID = "01a1fddd-f0aa-7623-8e9f-0e09a8ec83a9"


@pytest.fixture
def student(api):
    return item_path(api.post("/students", STUDENT))


def assert_head_equals_get(api, path, **headers):
    """Returns the answer to HEAD."""
    headers["HTTP_CORRELATIONID"] = "the-same"
    get_response, head_response = api.get(path, **headers), api.request("head", path, **headers)

    assert (head_response.status_code, head_response.content) == (get_response.status_code, b"")
    assert dict(head_response.items()) == dict(get_response.items())
    if get_response.status_code not in (204, 304):
        assert int(head_response["Content-Length"]) == len(get_response.content) > 0
    return head_response


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
    assert assert_head_equals_get(api, path).status_code == 200


def test_head_of_a_collection_counts_it(api, student):
    answer = api.request("head", "/students?totalCount=true&limit=0")

    assert answer["Total-Count"] == "1"
    assert answer["Content-Length"] == "2"


def test_head_of_a_page_has_the_token_of_the_next(api, student):
    assert "Next-Page-Token" in api.request("head", "/students")


def test_head_of_an_item_has_its_etag(api, student):
    answer = assert_head_equals_get(api, student)

    assert answer.status_code == 200
    assert assert_head_equals_get(api, student, HTTP_IF_NONE_MATCH=answer["ETag"]).status_code == 304


def test_head_of_related_documents(api, student):
    path = student.replace("/data/ed-fi", "/relations/v1/ed-fi")

    assert assert_head_equals_get(api, path).status_code == 200


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
    assert assert_head_equals_get(api, path).status_code == status


@pytest.mark.parametrize("path", ["/students", "/changeQueries/v1/availableChangeVersions"])
def test_head_needs_a_token(db, path):
    answer = assert_head_equals_get(ApiTestClient("unknown"), path)

    assert answer.status_code == 401


@pytest.mark.parametrize("path", ["/staffs", f"/staffs/{SOME_ID}", "/staffs/deletes", "/staffs/partitions"])
def test_head_needs_the_claims_of_get(db, path):
    api = ApiTestClient(new_token("assessments", "AssessmentVendor"))  # Without a claim on staff.

    assert assert_head_equals_get(api, path).status_code == 403


def test_head_of_an_unreadable_document_is_refused(api, student):
    other = ApiTestClient(new_token("district", "SISVendor", education_organization_ids=[122]))

    assert assert_head_equals_get(other, student).status_code == 403
    assert other.request("head", "/students?totalCount=true")["Total-Count"] == "0"


@pytest.mark.parametrize("path", ["/", "/metadata", "/metadata/specifications", "/metadata/dependencies", "/health"])
def test_head_of_public_routes(db, path):
    get_response, head_response = http().get(path), http().head(path)

    assert (head_response.status_code, head_response.content) == (200, b"")
    assert head_response["Content-Length"] == str(len(get_response.content))
