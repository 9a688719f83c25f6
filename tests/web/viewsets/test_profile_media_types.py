"""Media types of API profiles, of which there are none: nothing is answered or written that a profile would narrow."""

import json

import pytest

from edfi_api.core.models import Document
from tests.conftest import item_path
from tests.support.factories import STUDENT

READABLE = "application/vnd.ed-fi.student.Counselor-Portal.readable+json"
WRITABLE = "application/vnd.ed-fi.student.Counselor-Portal.writable+json"
NOWHERE = "/students/00000000-0000-4000-8000-000000000000"
UNKNOWN = (
    "The profile 'Counselor-Portal' specified by the content type in the '{}' header is not supported by this host."
)
MALFORMED = "The format of the profile-based content type header was invalid."


def refusal(response) -> tuple[int, str]:
    """Status and message of a problem that is worded as the Ed-Fi API does."""
    problem = response.json()
    assert response["Content-Type"] == "application/problem+json"
    assert problem.pop("correlationId")
    errors = problem.pop("errors")
    assert problem == {
        "detail": "The request construction was invalid with respect to usage of a data policy.",
        "type": "urn:ed-fi:api:profile:invalid-profile-usage",
        "title": "Invalid Profile Usage",
        "status": response.status_code,
    }
    return response.status_code, *errors


@pytest.mark.parametrize("path", ["/students", "/students?limit=-1", "/students/partitions", NOWHERE])
@pytest.mark.parametrize(
    "accept", [READABLE, READABLE.upper(), f"{READABLE}; charset=utf-8", f"application/json, {READABLE}, {READABLE}"]
)
def test_no_read_is_answered_for_a_profile(api, path, accept):
    status, message = refusal(api.get(path, HTTP_ACCEPT=accept))

    assert status == 406
    assert message.lower() == UNKNOWN.format("Accept").lower()


@pytest.mark.parametrize(
    "accept",
    [
        "application/vnd.ed-fi.student.readable+json",
        "application/vnd.ed-fi.student.x.readable",
        "application/vnd.ed-fi.student.x.seen+json",
        "application/vnd.ed-fi.student.x y.readable+json",
        f"{READABLE}, application/vnd.ed-fi.student.other.readable+json",
    ],
)
def test_a_malformed_media_type_is_a_bad_request(api, accept):
    assert refusal(api.get("/students", HTTP_ACCEPT=accept)) == (400, MALFORMED)


def test_a_put_for_a_profile_replaces_nothing(api):
    path = item_path(api.post("/students", STUDENT | {"middleName": "Ann"}))
    body = STUDENT | {"id": path.rsplit("/", 1)[1]}

    response = api.put(path, body, content_type=f"{WRITABLE}; charset=utf-8")

    assert refusal(response) == (415, UNKNOWN.format("Content-Type"))
    assert api.get(path).json()["middleName"] == "Ann"


def test_a_post_for_a_profile_creates_nothing(api):
    assert refusal(api.post("/students", STUDENT, content_type=WRITABLE)) == (415, UNKNOWN.format("Content-Type"))
    assert refusal(api.post("/students", json.dumps(STUDENT), content_type="application/vnd.ed-fi.")) == (
        400,
        MALFORMED,
    )
    assert not Document.objects.exists()


def test_a_body_that_is_no_json_is_refused_first(api):
    assert api.post("/students", "{", content_type=WRITABLE).json()["title"] == "Data Validation Failed"


def test_each_header_counts_where_it_says_something(api):
    assert api.post("/students", STUDENT, HTTP_ACCEPT=READABLE).status_code == 201
    assert api.delete(NOWHERE, HTTP_ACCEPT=READABLE).status_code == 404
    assert api.get("/students/deletes", HTTP_ACCEPT=READABLE).status_code == 200
    for accept in ("", "*/*", "text/html", "application/vnd.ed-finance+json"):
        assert api.get("/students", HTTP_ACCEPT=accept).status_code == 200
