"""Attempts of an authenticated client to exceed its permissions fail without disclosing anything."""

import json
from functools import partial

import pytest

from tests.conftest import item_path
from tests.core.security.strategies.scenario import EO, Scenario

ELSEWHERE = ["21", '"21"', '"021"', '" 21"', "21.0", "2.1e1", '"21.0"', "210e-1", '"+21"', f"{2**64 + 21}", "[21]"]


@pytest.fixture
def sis(scenario: Scenario):
    return scenario.client("SISVendor", 1)


def count(scenario: Scenario, endpoint: str) -> int:
    return int(scenario.api.get(f"{endpoint}?limit=0&totalCount=true")["Total-Count"])


@pytest.mark.parametrize("spelling", ELSEWHERE)
def test_no_notation_of_an_id_bypasses_authorization(scenario: Scenario, sis, spelling: str) -> None:
    scenario.student("S")
    body = json.dumps(scenario.enrollment("S", 4711)).replace("4711", spelling)

    answer = sis.post("/studentSchoolAssociations", body)

    assert answer.status_code in (400, 403)
    assert count(scenario, "/studentSchoolAssociations") == 0
    own = json.dumps(scenario.enrollment("S", 4711)).replace(
        "4711", spelling.replace("21", "11").replace("2.1e1", "1.1e1")
    )
    if sis.post("/studentSchoolAssociations", own.replace("210e-1", "110e-1")).status_code == 201:
        (stored,) = scenario.api.get("/studentSchoolAssociations").json()
        assert json.dumps(stored["schoolReference"]["schoolId"]) == "11"


@pytest.mark.parametrize(
    "second", ['"schoolId": 21', '"school\\u0049d": 21', '"schoolId": 11, "schoolId": 21', '"SchoolId": 21']
)
def test_a_duplicate_member_does_not_bypass_authorization(scenario: Scenario, sis, second: str) -> None:
    scenario.student("S")
    body = json.dumps(scenario.enrollment("S", 11))

    for mixed in (f'{second}, "schoolId": 11', f'"schoolId": 11, {second}'):
        sis.post("/studentSchoolAssociations", body.replace('"schoolId": 11', mixed))

    stored = scenario.api.get("/studentSchoolAssociations").json()
    assert {each["schoolReference"]["schoolId"] for each in stored} <= {11}


PREFIX = "uri://ed-fi.org"


@pytest.mark.parametrize(
    "namespace",
    [
        "URI://ED-FI.ORG/X",
        "uri://ed-fi.or",
        " uri://ed-fi.org/X",
        "\turi://ed-fi.org/X",
        "uri://ed\u2010fi.org/X",
        "uri://ed-fi\u3002org/X",
        "\ufeffuri://ed-fi.org/X",
        "uri://ed-\u200bfi.org/X",
        "uri:/\\/ed-fi.org",
        "%75ri://ed-fi.org/X",
        "https://uri://ed-fi.org",
        ["uri://ed-fi.org/X"],
        {"": "uri://ed-fi.org/X"},
    ],
)
def test_a_namespace_that_resembles_an_own_one_is_refused(scenario: Scenario, namespace: object) -> None:
    vendor = scenario.client("SISVendor", prefixes=(PREFIX,))

    answer = vendor.post("/assessments", scenario.body("Assessment") | {"namespace": namespace})

    assert answer.status_code in (400, 403)
    assert count(scenario, "/assessments") == 0


def test_a_descriptor_of_others_is_not_overwritten_in_another_case(scenario: Scenario) -> None:
    """Descriptors are case-insensitive, namespace prefixes are case-sensitive."""
    body = {"namespace": "uri://other.example/PerformanceLevelDescriptor", "codeValue": "A", "shortDescription": "A"}
    path = item_path(scenario.api.post("/performanceLevelDescriptors", body))
    vendor = scenario.client("SISVendor", prefixes=("URI://OTHER.EXAMPLE",))

    taken = body | {"namespace": body["namespace"].upper(), "shortDescription": "mine"}

    assert vendor.post("/performanceLevelDescriptors", taken).status_code == 403
    assert vendor.put(path, taken | {"id": path.rsplit("/", 1)[1]}).status_code == 403
    assert vendor.delete(path).status_code == 403
    assert scenario.api.get(path).json()["shortDescription"] == "A"


def test_a_document_is_not_reached_through_another_resource(scenario: Scenario, sis) -> None:
    """Below another resource the id of a document does not even disclose that it exists."""
    calendar = scenario.calendar("C", 21).rsplit("/", 1)[1]
    missing = "01a1ffd7-0000-7000-8000-000000000000"

    def responses(id_: str) -> list[tuple[int, bytes]]:
        answers = (
            sis.get(f"/schools/{id_}"),
            sis.delete(f"/assessments/{id_}"),
            sis.put(f"/students/{id_}", scenario.body("Student") | {"id": id_}),
            sis.get(f"/relations/v1/ed-fi/schools/{id_}"),
            sis.get(f"/calendars?id={id_}&totalCount=true"),
        )
        return [
            (each.status_code, each.content.replace(id_.encode(), b"").split(b'"correlationId"')[0]) for each in answers
        ]

    assert responses(calendar) == responses(missing)


def test_page_tokens_of_other_clients_give_no_access(scenario: Scenario, sis) -> None:
    for number in range(6):
        scenario.calendar(f"C{number}", 21 if number % 2 else 11)
    tokens = [scenario.api.get("/calendars?limit=1")["Next-Page-Token"]]
    tokens += scenario.api.get("/calendars/partitions?number=2").json()["pageTokens"]

    for token in tokens:
        shown = sis.get(f"/calendars?pageToken={token}&pageSize=100").json()
        assert {each["schoolReference"]["schoolId"] for each in shown} <= {11}


def test_deletes_and_key_changes_of_other_organizations_are_not_disclosed(scenario: Scenario) -> None:
    """Only clients that could have read the document see them, by its former key."""
    clients = {id_: scenario.client("EdFiAPIPublisherReader", id_) for id_ in (1, 2)}
    scenario.body("ClassPeriod")
    period = scenario.post("ClassPeriod", classPeriodName="P", schoolReference={"schoolId": 21})
    renamed = scenario.body("ClassPeriod", classPeriodName="Q", schoolReference={"schoolId": 21})
    assert scenario.api.put(period, renamed | {"id": period.rsplit("/", 1)[1]}).status_code == 204
    assert scenario.api.delete(scenario.calendar("C", 21)).status_code == 204

    for place, count_of_others in (("/calendars/deletes", 1), ("/classPeriods/keyChanges", 1)):
        for id_, expected in ((1, 0), (2, count_of_others)):
            answer = clients[id_].get(f"{place}?totalCount=true")
            assert (len(answer.json()), answer["Total-Count"]) == (expected, str(expected)), (place, id_)


def test_another_organization_cannot_be_moved_below_an_own_one(scenario: Scenario) -> None:
    """A client that may write its own organizations cannot become the parent of another one."""
    client = scenario.client_by(EO, organizations=(1,))
    path = next(f"/data/ed-fi/schools/{each['id']}" for each in scenario.api.get("/schools?schoolId=21").json())
    body = {key: value for key, value in scenario.api.get(path).json().items() if key[0] != "_"}
    body["localEducationAgencyReference"] = {"localEducationAgencyId": 1}

    assert client.put(path, body).status_code == 403
    assert client.post("/schools", {key: value for key, value in body.items() if key != "id"}).status_code == 403
    assert client.get("/calendars", HTTP_X_CLAIMS="21").json() == []
    assert client.get(path).status_code == 403


def test_a_client_cannot_set_the_owner_of_a_document(scenario: Scenario) -> None:
    mine, other = (scenario.client("OwnershipBased", prefixes=(each,)) for each in ("uri://a", "uri://b"))
    body = scenario.body("Student") | {"createdBy": 1, "created_by": 1, "CreatedByOwnershipTokenId": 1, "_etag": "1"}
    path = item_path(mine.post("/students", body))

    assert other.get(path).status_code == 403
    assert other.post("/students", body).status_code == 403
    assert mine.get(path).status_code == 200


def test_conditional_requests_do_not_change_a_refusal(scenario: Scenario, sis) -> None:
    path = scenario.calendar("C", 21)
    tag = scenario.api.get(path)["ETag"]
    body = scenario.body("Calendar", calendarCode="C", schoolReference={"schoolId": 21})
    responses = [
        partial(sis.get, path, HTTP_IF_NONE_MATCH=tag),
        partial(sis.get, path, HTTP_IF_NONE_MATCH="*"),
        partial(sis.delete, path, HTTP_IF_MATCH=tag),
        partial(sis.delete, path, HTTP_IF_MATCH='"0-l"'),
        partial(sis.put, path, body | {"id": path.rsplit("/", 1)[1]}, HTTP_IF_MATCH='"0-l"'),
        partial(sis.post, "/calendars", body, HTTP_IF_NONE_MATCH="*"),
        partial(sis.post, "/calendars", body, HTTP_IF_MATCH='"0-l"'),
    ]

    answers = [each() for each in responses]

    assert {answer.status_code for answer in answers} == {403}
    assert len({answer.json()["detail"] for answer in answers}) == 1
    assert not any("ETag" in answer.headers for answer in answers)
