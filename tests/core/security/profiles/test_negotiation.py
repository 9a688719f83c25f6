"""Which profile a request is under, by assignment and header; and every refusal with its exact body."""

import re
from typing import Any

import pytest

from edfi_api.core.security.requests.authentication import client_of_token
from tests.conftest import ApiTestClient, item_path
from tests.core.security.profiles.conftest import ClientOf, Store
from tests.core.security.profiles.media_types import media_type

STUDENT = {"studentUniqueId": "604822", "firstName": "Mae", "lastSurname": "Ortiz", "birthDate": "2010-02-03"}
USAGE = "The request construction was invalid with respect to usage of a data policy."
FIRST_NAME = 'IncludeOnly:<Property name="firstName"/>'
LAST_NAME = 'IncludeOnly:<Property name="lastSurname"/>'


def names_of(document: dict[str, Any]) -> set[str]:
    return {name for name in document if name in STUDENT}


def problem(response) -> tuple[Any, ...]:
    assert response["Content-Type"] == "application/problem+json"
    body = response.json()
    assert "validationErrors" not in body
    return body["status"], body["type"].removeprefix("urn:ed-fi:api:"), body["title"], body["detail"], *body["errors"]


def invalid_usage(status: int, message: str, detail: str = USAGE) -> tuple[Any, ...]:
    return status, "profile:invalid-profile-usage", "Invalid Profile Usage", detail, message


def incorrect_usage(message: str) -> tuple[Any, ...]:
    return (
        403,
        "security:data-policy:incorrect-usage",
        "Data Policy Failure Due to Incorrect Usage",
        "A data policy failure was encountered. The request was not constructed correctly for the data policy that has "
        "been applied to this data for the caller.",
        message,
    )


REQUIRED = (
    "Based on profile assignments, one of the following profile-specific content types is required when requesting "
    "this resource: '{}'"
)


@pytest.fixture
def profiles(store: Store) -> None:
    store("First", "Student", read=FIRST_NAME)
    store("Last", "Student", read=LAST_NAME)
    store("Schools", "School", read="IncludeAll", write="IncludeAll")
    store("Writing", "Student", write="IncludeAll")


@pytest.fixture
def student(api: ApiTestClient, profiles) -> str:
    return item_path(api.post("/students", STUDENT))


def test_without_profiles_everything_is_served(api, student) -> None:
    response = api.get(student)

    assert names_of(response.json()) == set(STUDENT)
    assert response["Content-Type"] == "application/json; charset=utf-8"


def test_a_client_without_profiles_may_name_any(api, student) -> None:
    response = api.get(student, HTTP_ACCEPT=media_type("First"))

    assert names_of(response.json()) == {"studentUniqueId", "firstName"}
    assert response["Content-Type"] == "application/vnd.ed-fi.student.first.readable+json"


def test_the_only_profile_of_a_client_is_applied_without_a_header(client_of: ClientOf, student) -> None:
    client = client_of("First", "Schools", "Writing")

    response = client.get(student)
    page = client.get("/students")

    assert names_of(response.json()) == {"studentUniqueId", "firstName"}
    assert [names_of(each) for each in page.json()] == [{"studentUniqueId", "firstName"}]
    assert {response["Content-Type"], page["Content-Type"]} == {"application/vnd.ed-fi.student.first.readable+json"}


def test_profiles_for_other_resources_or_usages_leave_the_resource_whole(client_of: ClientOf, student) -> None:
    assert names_of(client_of("Schools").get(student).json()) == set(STUDENT)
    assert names_of(client_of("Writing").get(student).json()) == set(STUDENT)


@pytest.mark.parametrize(
    "header",
    [
        media_type("Last").upper(),
        f"{media_type('last')};q=0.5",
        f"text/html, {media_type('LAST')}, */*",
        f"{media_type('last')}, {media_type('Last')}",
    ],
)
def test_one_of_several_is_chosen_by_the_header(client_of: ClientOf, student, header: str) -> None:
    client = client_of("First", "Last")

    assert names_of(client.get(student, HTTP_ACCEPT=header).json()) == {"studentUniqueId", "lastSurname"}


def test_with_several_profiles_one_has_to_be_named(client_of: ClientOf, student) -> None:
    required = incorrect_usage(REQUIRED.format("', '".join([media_type("first"), media_type("last")])))

    for path in (student, "/students", "/students/partitions"):
        assert problem(client_of("Last", "First").get(path)) == required


def test_a_client_with_profiles_has_to_use_its_own(client_of: ClientOf, student) -> None:
    client = client_of("First")

    for header in (media_type("Last"), media_type("Schools", "school"), media_type("Last", usage="writable")):
        assert problem(client.get(student, HTTP_ACCEPT=header)) == incorrect_usage(REQUIRED.format(media_type("first")))


@pytest.mark.parametrize(
    ("header", "expected"),
    [
        (
            "application/vnd.ed-fi.student",
            invalid_usage(400, "The format of the profile-based content type header was invalid."),
        ),
        (
            f"{media_type('First')}, {media_type('Last')}",
            invalid_usage(400, "The format of the profile-based content type header was invalid."),
        ),
        (
            media_type("Other"),
            invalid_usage(
                406,
                "The profile 'Other' specified by the content type in the 'Accept' header is not supported by this "
                "host.",
            ),
        ),
        (
            media_type("First", "School"),
            invalid_usage(
                400,
                "The resource specified by the profile-based content type ('School') does not match the requested "
                "resource ('Student').",
            ),
        ),
        (
            media_type("First", usage="writable"),
            invalid_usage(400, "A profile-based content type that is writable cannot be used with GET requests."),
        ),
        (
            media_type("Schools"),
            invalid_usage(
                400,
                "Resource 'Student' is not accessible through the 'Schools' profile specified by the content type.",
                f"{USAGE} The resource is not contained by the profile used by (or applied to) the request.",
            ),
        ),
        (
            media_type("Writing"),
            (
                405,
                "profile:method-usage",
                "Method Not Allowed with Profile",
                f"{USAGE} An attempt was made to access a resource that is not readable using the profile.",
                "Resource class 'Student' is not readable using API profile 'Writing'.",
            ),
        ),
    ],
)
def test_refusals_of_a_read(api, student, header: str, expected: tuple[Any, ...]) -> None:
    for path in (student, "/students", "/students/partitions"):
        assert problem(api.get(path, HTTP_ACCEPT=header)) == expected


def test_a_usage_without_a_part_tells_what_is_left(api, student) -> None:
    assert api.get(student, HTTP_ACCEPT=media_type("Writing"))["Allow"] == "PUT, DELETE"
    assert api.get("/students", HTTP_ACCEPT=media_type("Writing"))["Allow"] == "POST"


@pytest.mark.parametrize(("method", "at_item"), [("post", False), ("put", True)])
def test_a_media_type_for_reading_writes_nothing(api, student, method: str, at_item: bool) -> None:
    body = STUDENT | ({"id": student.rsplit("/", 1)[1]} if at_item else {})

    response = api.request(method, student if at_item else "/students", body, content_type=media_type("First"))

    # The profile has no part for writing, but the usage in the media type is checked first.
    assert problem(response) == invalid_usage(
        400, f"A profile-based content type that is readable cannot be used with {method.upper()} requests."
    )


def test_routes_that_tell_of_keys_alone_ignore_the_header(client_of: ClientOf, student) -> None:
    client = client_of("First", "Last")

    for path in ("/students/deletes", "/students/keyChanges"):
        assert client.get(path, HTTP_ACCEPT=media_type("Other")).status_code == 200
    assert client.delete(student, HTTP_ACCEPT=media_type("Other")).status_code == 204


def test_tags_differ_between_profiles(api, student) -> None:
    whole = api.get(student)["ETag"]
    first = api.get(student, HTTP_ACCEPT=media_type("First"))
    last = api.get(student, HTTP_ACCEPT=media_type("Last"))["ETag"]

    assert first["ETag"] == f'"{first.json()["_etag"]}"'
    assert len({whole, first["ETag"], last}) == 3
    assert re.fullmatch(whole.rstrip('"') + r'\.[0-9a-f]{8}"', first["ETag"])

    def status(tag: str, **headers: str) -> int:
        return api.get(student, HTTP_IF_NONE_MATCH=tag, **headers).status_code

    assert status(first["ETag"], HTTP_ACCEPT=media_type("FIRST")) == 304
    assert status("*", HTTP_ACCEPT=media_type("First")) == 304
    assert status(whole, HTTP_ACCEPT=media_type("First")) == 200
    assert status(first["ETag"]) == 200
    assert status(whole) == 304


def test_a_changed_definition_changes_the_tag(api, student, store: Store) -> None:
    before = api.get(student, HTTP_ACCEPT=media_type("First"))["ETag"]

    store("First", "Student", read=LAST_NAME)
    client_of_token.cache.clear()

    after = api.get(student, HTTP_ACCEPT=media_type("First"), HTTP_IF_NONE_MATCH=before)
    assert after.status_code == 200
    assert names_of(after.json()) == {"studentUniqueId", "lastSurname"}


def test_the_answer_to_an_unknown_profile_names_those_that_the_client_may_use(api, client_of, student) -> None:
    """As last year's profile."""
    bound, unbound = client_of("Last"), api
    writable = "application/vnd.ed-fi.student.profile-old.writable+json"

    of_bound = bound.get(student, HTTP_ACCEPT=media_type("Old")).json()["hints"]
    of_unbound = unbound.request("post", "/students", STUDENT, content_type=writable)

    assert of_bound == [f'There is no profile "Old". Accept may name: {media_type("last")}.']
    assert of_unbound.status_code == 415
    assert of_unbound.json()["hints"][0].startswith('There is no profile "profile-old". Content-Type may name: ')
