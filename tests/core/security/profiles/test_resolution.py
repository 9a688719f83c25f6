"""The whole table of which profile a request is under: assigned profiles, against what the header names."""

import json
from typing import Any

import pytest

from edfi_api.core.models import Document
from tests.conftest import ApiTestClient, item_path
from tests.core.security.profiles.conftest import make_incompatible

STUDENT = {
    "studentUniqueId": "604822",
    "firstName": "Mae",
    "lastSurname": "Ortiz",
    "birthDate": "2010-02-03",
    "middleName": "Ann",
    "maidenName": "Ruiz",
}
USAGE = "The request construction was invalid with respect to usage of a data policy."
READABLE, WRITABLE = "readable", "writable"
HALF = {READABLE: "Writing", WRITABLE: "Reading"}
USAGE_OF = {"GET": READABLE, "page": READABLE, "partitions": READABLE, "POST": WRITABLE, "PUT": WRITABLE}
HEADER = {READABLE: "Accept", WRITABLE: "Content-Type"}

# A hides `middleName`, B hides `maidenName`; Elsewhere does not name students; Half has no part for the usage; Old does
# not fit any more. Outcomes: the profile, `all` without one, the refusals; `E3 A` lists the media type of A.
NAMED = (
    *("absent", "plain", "A", "A loudly", "B", "Elsewhere", "Half", "Old", "Unknown", "malformed"),
    *("A of a school", "A unusual", "B unusual"),
)
TABLE = {
    "": ("all", "all", "A", "A", "B", "E7", "E8", "E2", "E2", "E1", "E4", "E5", "E5"),
    "Elsewhere": ("all", "all", "A", "A", "B", "E7", "E8", "E2", "E2", "E1", "E4", "E5", "E5"),
    "Half": ("all", "all", "A", "A", "B", "E7", "E8", "E2", "E2", "E1", "E4", "E5", "E5"),
    "A": ("A", "A", "A", "A", "E3 A", "E3 A", "E3 A", "E2", "E2", "E1", "E4", "E5", "E3 A"),
    "A Elsewhere": ("A", "A", "A", "A", "E3 A", "E3 A", "E3 A", "E2", "E2", "E1", "E4", "E5", "E3 A"),
    "A Half": ("A", "A", "A", "A", "E3 A", "E3 A", "E8", "E2", "E2", "E1", "E4", "E5", "E3 A"),
    "B A": ("E3 A B", "E3 A B", "A", "A", "B", "E3 A B", "E3 A B", "E2", "E2", "E1", "E4", "E5", "E5"),
    "Old": ("E9", "E9", "E9", "E9", "E9", "E9", "E9", "E2", "E2", "E1", "E9", "E9", "E9"),
    "Old Elsewhere": ("E9", "E9", "E9", "E9", "E9", "E9", "E9", "E2", "E2", "E1", "E9", "E9", "E9"),
    "Old A": ("A", "A", "A", "A", "E3 A", "E3 A", "E3 A", "E2", "E2", "E1", "E4", "E5", "E3 A"),
}


def media_type(profile: str, usage: str, resource: str = "Student") -> str:
    return f"application/vnd.ed-fi.{resource}.{profile}.{usage}+json"


def header(named: str, usage: str) -> str | None:
    profile = named.split(maxsplit=1)[0]
    other = WRITABLE if usage == READABLE else READABLE
    return {
        "absent": None,
        "plain": "application/json",
        "A loudly": f"{media_type('A', usage).upper()}; charset=utf-8",
        "Half": media_type(HALF[usage], usage),
        "malformed": f"application/vnd.ed-fi.Student.{usage}+json",
        "A of a school": media_type("A", usage, "School"),
        "A unusual": media_type("A", other),
        "B unusual": media_type("B", other),
    }.get(named, media_type(profile, usage))


def refusal(outcome: str, named: str, method: str) -> dict[str, Any]:
    """The problem of an outcome."""
    kind, *listed = outcome.split()
    usage = USAGE_OF[method]
    verb = "GET" if usage == READABLE else method
    unusual = WRITABLE if usage == READABLE else READABLE
    profile = HALF[usage] if named == "Half" else named.split(maxsplit=1)[0]
    required = ", ".join(f"'{media_type(each, usage).lower()}'" for each in listed)
    invalid = ("profile:invalid-profile-usage", "Invalid Profile Usage")
    incorrect = ("security:data-policy:incorrect-usage", "Data Policy Failure Due to Incorrect Usage")
    policy = (
        "A data policy failure was encountered. The request was not constructed correctly for the data policy that has "
        "been applied to this data for the caller."
    )
    status, (type_, title), detail, error = {
        "E1": (400, invalid, USAGE, "The format of the profile-based content type header was invalid."),
        "E2": (
            406 if usage == READABLE else 415,
            invalid,
            USAGE,
            f"The profile '{profile}' specified by the content type in the '{HEADER[usage]}' header is not supported "
            "by this host.",
        ),
        "E3": (
            403,
            incorrect,
            policy,
            "Based on profile assignments, one of the following profile-specific content types is required when "
            f"requesting this resource: {required}",
        ),
        "E4": (
            400,
            invalid,
            USAGE,
            "The resource specified by the profile-based content type ('School') does not match the requested resource "
            "('Student').",
        ),
        "E5": (
            400,
            invalid,
            USAGE,
            f"A profile-based content type that is {unusual} cannot be used with {verb} requests.",
        ),
        "E7": (
            400,
            invalid,
            f"{USAGE} The resource is not contained by the profile used by (or applied to) the request.",
            f"Resource 'Student' is not accessible through the '{profile}' profile specified by the content type.",
        ),
        "E8": (
            405,
            ("profile:method-usage", "Method Not Allowed with Profile"),
            f"{USAGE} An attempt was made to access a resource that is not {usage} using the profile.",
            f"Resource class 'Student' is not {usage} using API profile '{profile}'.",
        ),
        "E9": (
            403,
            incorrect,
            policy,
            "None of the profiles assigned to the caller provide a profile-specific content type for this resource and "
            "method.",
        ),
    }[kind]
    return {
        "detail": detail,
        "type": f"urn:ed-fi:api:{type_}",
        "title": title,
        "status": status,
        "errors": [error],
    }


@pytest.fixture
def profiles(store) -> None:
    for name, hidden in (("A", "middleName"), ("B", "maidenName"), ("Old", "generationCodeSuffix")):
        rule = f'ExcludeOnly:<Property name="{hidden}"/>'
        store(name, "Student", read=rule, write=rule)
    store("Elsewhere", "School", read="IncludeAll", write="IncludeAll")
    store("Reading", "Student", read="IncludeAll")
    store("Writing", "Student", write="IncludeAll")
    make_incompatible("Old", "Student")


class Requests:
    """One request of each kind, and which profile it turns out to be under."""

    def __init__(self, api: ApiTestClient, client: ApiTestClient) -> None:
        self.api, self.client = api, client
        self.path = item_path(api.post("/students", STUDENT))

    def made(self, method: str, sent: str | None) -> Any:
        """The response, or the profile of an accepted request: `all` without one."""
        if USAGE_OF[method] == READABLE:
            path = {"GET": self.path, "page": "/students", "partitions": "/students/partitions"}[method]
            response = self.client.get(path, **({} if sent is None else {"HTTP_ACCEPT": sent}))
            if response.status_code != 200 or method == "partitions":
                return response
            body = response.json() if method == "GET" else response.json()[0]
            return _without(body)
        self.api.post("/students", STUDENT)
        changed = {"middleName": "New", "maidenName": "New", "id": self.path.rsplit("/", 1)[1]}
        content = {} if sent is None else {"content_type": sent}
        if method == "POST":
            del changed["id"]
            response = self.client.post("/students", json.dumps(STUDENT | changed), **content)
        else:
            response = self.client.put(self.path, json.dumps(STUDENT | changed), **content)
        if response.status_code >= 400:
            return response
        stored = Document.objects.get(resource_type__name="Student").body
        return _without({name: value for name, value in stored.items() if value == "New"})


def _without(body: dict[str, Any]) -> str:
    """The profile that hides what is missing."""
    hidden = {name: profile for name, profile in (("middleName", "A"), ("maidenName", "B")) if name not in body}
    return " ".join(hidden.values()) or "all"


@pytest.mark.usefixtures("profiles")
@pytest.mark.parametrize("assigned", TABLE)
def test_which_profile_a_request_is_under(api, client_of, assigned: str) -> None:
    usages = dict.fromkeys(USAGE_OF.values())
    for usage in usages:
        client = client_of(*(HALF[usage] if name == "Half" else name for name in assigned.split()))
        requests = Requests(api, client)
        for named, expected in zip(NAMED, TABLE[assigned], strict=True):
            for method in (method for method, its_usage in USAGE_OF.items() if its_usage == usage):
                outcome = requests.made(method, header(named, usage))

                case = f"{method} with {named} by a client with {assigned or 'none'}"
                if isinstance(outcome, str):
                    assert outcome == expected, case
                elif outcome.status_code == 200:
                    assert method == "partitions" and not expected.startswith("E"), case
                else:
                    told = outcome.json()
                    del told["correlationId"]
                    told.pop("hints", None)
                    assert told == refusal(expected, named, method), case


@pytest.mark.usefixtures("profiles")
@pytest.mark.parametrize(
    ("listed", "expected"),
    [
        ("text/html, {A}", "A"),
        ("{A};q=0.1, */*;q=0.9", "A"),
        ("{A}, {A}; charset=utf-8", "A"),
        ("{A}, {B}", "E1"),
        ("{A};q=0.5, {B};q=0.9", "B"),
        ("{B};q=0.2, {A}", "A"),
        ("{A}; q=0.500, {B}; charset=utf-8; Q=0.5", "E1"),
        ("{A};q=0, {B};q=0.1", "B"),
        ("{A};q=0", "all"),
        ("{A};q=high, {B};q=0.9", "A"),
        ("{A};q=0.1, {B};q=0.9, {A};q=1", "A"),
        ("{A}, application/vnd.ed-fi.x", "E1"),
        ("text/html, application/json", "all"),
        ("", "all"),
        ("application/vnd.ed-fix", "all"),
    ],
)
def test_the_lists_of_accept(api, listed: str, expected: str) -> None:
    requests = Requests(api, api)

    outcome = requests.made("GET", listed.format(A=media_type("A", READABLE), B=media_type("B", READABLE)))

    if not isinstance(outcome, str):
        assert outcome.json()["errors"] == refusal("E1", "malformed", "GET")["errors"]
        outcome = "E1"
    assert outcome == expected


@pytest.mark.usefixtures("profiles")
@pytest.mark.parametrize(
    "malformed",
    [
        "application/vnd.ed-fi.",
        "application/vnd.ed-fi.student",
        "application/vnd.ed-fi.student.a",
        "application/vnd.ed-fi.student.a.readable",
        "application/vnd.ed-fi.student.a.readable+xml",
        "application/vnd.ed-fi.student.a.readable+json+json",
        "application/vnd.ed-fi.student.a.seen+json",
        "application/vnd.ed-fi.1student.a.readable+json",
        "application/vnd.ed-fi.stu-dent.a.readable+json",
        "application/vnd.ed-fi.ed-fi.student.a.readable+json",
        "application/vnd.ed-fi.student.1a.readable+json",
        "application/vnd.ed-fi.student.a b.readable+json",
        "application/vnd.ed-fi..a.readable+json",
        "application/vnd.ed-fi.student..readable+json",
        "application/vnd.ed-fi.student.\u017f.readable+json",
    ],
)
def test_malformed_media_types(api, malformed: str) -> None:
    requests = Requests(api, api)
    written = malformed.replace("readable", "writable")

    for method, sent in (("GET", malformed), ("partitions", malformed), ("POST", written), ("PUT", written)):
        told = requests.made(method, sent).json()
        del told["correlationId"]
        assert told == refusal("E1", "malformed", method)
