"""Of documents that a client may not read it learns neither their versions, nor who refers to them, nor by an operation
of a batch that names a key whether they exist: the promises of SECURITY.md."""

import json
from itertools import product
from operator import itemgetter
from typing import Any

import orjson
import pytest

from edfi_api.core.models import Document
from edfi_api.core.security.claims.file import read_claims
from edfi_api.core.security.claims.stored_claims import load
from tests.conftest import ApiTestClient
from tests.core.security.strategies.granted import client_granted, student, writer
from tests.core.security.strategies.scenario import EO, EOP, NFA, Scenario
from tests.web.batch.batch_client import BatchClient, parts

HIDDEN, ABSENT = "S-hidden", "S-absent"


def by_key(op: str, unique_id: str, **members: Any) -> dict[str, Any]:
    document = {"document": student(unique_id)} if op == "update" else {}
    key = {"studentUniqueId": unique_id}
    return {"op": op, "resource": "/ed-fi/students", "naturalKey": key} | document | members


def answers(client: ApiTestClient, *operations: dict[str, Any], mode: str, order: str = "given") -> list[Any]:
    """Status and problem of each operation, of an atomic batch of those that failed; then the other members."""
    response = BatchClient(client.token).send(list(operations), mode=mode, order=order)
    found = parts(response)[:-1] if response.status_code == 200 else response.json()["failedOperations"]
    for each in found:
        each.get("problem", {}).pop("correlationId", None)
    return sorted(found, key=itemgetter("index"))


def told(found: list[Any], *names: str) -> str:
    """The answers without the keys that were sent."""
    text = json.dumps(found)
    for name in names:
        text = text.replace(name, "")
    return text


@pytest.fixture
def hidden(scenario: Scenario) -> str:
    """The path of a student of district 2, of whom a client of district 1 may learn nothing."""
    path = scenario.student(HIDDEN)
    scenario.enroll(HIDDEN, 21)
    return path


@pytest.mark.parametrize(
    "strategy", [EOP, "RelationshipsWithPeopleOnly", "RelationshipsWithStudentsOnly", "OwnershipBased"]
)
def test_by_key_nothing_tells_whether_a_document_exists(scenario, hidden, strategy) -> None:
    client = scenario.client_by(strategy, organizations=(1,))
    failing = {"resource": "/ed-fi/students", "document": {}}
    conditions = {}, {"ifMatch": '"1-l"'}, {"ifMatch": "*"}, {"ifNoneMatch": '"1-l"'}

    for mode, order in (("independent", "given"), ("atomic", "given"), ("atomic", "free")):
        for op, condition in product(("delete", "update"), conditions):
            both = [
                # Twice, so that they are carried out in a set where they can be.
                answers(client, *[by_key(op, name, **condition)] * 2, failing, mode=mode, order=order)
                for name in (HIDDEN, ABSENT)
            ]
            expected = 412 if condition == {"ifMatch": "*"} else 404
            assert [each["status"] for each in both[0]] == [expected, expected, 400]
            assert told(both[0], HIDDEN) == told(both[1], ABSENT)
    assert client.get(hidden).status_code == 403
    assert scenario.api.get(hidden).status_code == 200


def test_by_key_nothing_tells_whether_a_document_of_another_namespace_exists(api, scenario) -> None:
    client = scenario.client_by("NamespaceBased", prefixes=("uri://own.example",))
    kind = {"codeValue": "K", "shortDescription": "K", "namespace": "uri://other.example/TermDescriptor"}
    assert api.post("/termDescriptors", kind).status_code == 201

    def deleted(code: str, op: str = "delete") -> Any:
        key = {"descriptor": f"uri://other.example/TermDescriptor#{code}"}
        document = {"document": kind | {"codeValue": code}} if op == "update" else {}
        operation = {"op": op, "resource": "/ed-fi/termDescriptors", "naturalKey": key} | document
        return [answers(client, *[operation] * 2, mode=mode) for mode in ("independent", "atomic")]

    for op in ("delete", "update"):
        assert told(deleted("K", op), "#K") == told(deleted("L", op), "#L")
        assert [each["status"] for each in deleted("K", op)[0]] == [404, 404]


def test_a_delete_by_key_needs_what_a_read_needs(scenario, hidden) -> None:
    """The standard claim sets let every client delete people."""
    client = scenario.client("SISVendor", 1, prefixes=("uri://ed-fi.org",))

    assert [each["status"] for each in answers(client, by_key("delete", HIDDEN), mode="independent")] == [404]
    assert [each["status"] for each in answers(client, by_key("delete", ABSENT), mode="independent")] == [404]
    assert Document.objects.filter(document_uuid=hidden.rpartition("/")[2]).exists()


def test_an_operation_by_key_needs_the_right_to_read(scenario, hidden) -> None:
    client = client_granted(1, Create=NFA, Update=NFA, Delete=NFA)

    for op in ("delete", "update"):
        for name in (HIDDEN, ABSENT):
            (found,) = answers(client, by_key(op, name), mode="independent")
            assert found["status"] == 403
            assert "must grant permission of the 'Read' action" in found["problem"]["errors"][0]


def test_who_may_write_associations_learns_whether_a_person_exists(scenario, hidden) -> None:
    """References are checked, as in the ODS/API. Reads, and operations by key, answer the same for both."""
    client = scenario.client_by(EOP, organizations=(1,))
    registrar = client_granted(1, Create=EO, Read=EOP)
    about = "educationOrganizationReference", {"educationOrganizationId": 11}

    def associated(name: str) -> tuple[int, str]:
        association = dict([about], studentReference={"studentUniqueId": name})
        refused = client.post("/studentEducationOrganizationAssociations", association)
        return refused.status_code, refused.json()["type"].removeprefix("urn:ed-fi:api:security:authorization")

    def read(name: str) -> list[tuple[int, Any, str]]:
        paths = f"/students?studentUniqueId={name}", f"/studentSchoolAssociations?studentUniqueId={name}"
        answers_ = [client.get(f"{path}&totalCount=true") for path in paths]
        return [(each.status_code, each.json(), each["Total-Count"]) for each in answers_]

    assert associated(HIDDEN) == (403, "")
    assert associated(ABSENT) == (403, ":relationships:access-denied:element-required")
    assert read(HIDDEN) == read(ABSENT) == [(200, [], "0"), (200, [], "0")]
    for op in ("delete", "update"):
        (here,), (nowhere,) = (answers(client, by_key(op, name), mode="independent") for name in (HIDDEN, ABSENT))
        assert (here["status"], nowhere["status"]) == (404, 404)
    # Who may enroll anybody may read who is enrolled.
    assert registrar.post("/studentSchoolAssociations", scenario.enrollment(ABSENT, 11)).status_code == 409
    assert registrar.get(hidden).status_code == 403
    assert registrar.post("/studentSchoolAssociations", scenario.enrollment(HIDDEN, 11)).status_code == 201
    assert registrar.get(hidden).status_code == 200


def test_a_conflict_names_types_of_referrers_that_the_client_may_read_only(scenario, hidden) -> None:
    """A student of both districts, of whom the other one keeps a secret."""
    scenario.enroll(HIDDEN, 11)
    program = scenario.post(
        "StudentEducationOrganizationResponsibilityAssociation",
        **{
            "studentReference": {"studentUniqueId": HIDDEN},
            "educationOrganizationReference": {"educationOrganizationId": 21},
        },
    )
    client = scenario.client_by(EOP, organizations=(1,))
    begin = "The requested action cannot be performed because this item is referenced by existing "

    assert client.get(program).status_code == 403
    (in_batch,) = answers(client, by_key("delete", HIDDEN), mode="atomic")
    alone = client.delete(hidden)
    assert alone.json()["detail"] == in_batch["problem"]["detail"] == f"{begin}StudentSchoolAssociation item(s)."
    assert "Responsibility" not in alone.content.decode()
    assert (
        "StudentEducationOrganizationResponsibilityAssociation, StudentSchoolAssociation item(s)."
        in (scenario.api.delete(hidden).json()["detail"])
    )


@pytest.mark.parametrize("compatibility", ["", "ods"])
def test_a_conflict_without_a_referrer_that_the_client_may_read_names_none(
    scenario, hidden, settings, compatibility
) -> None:
    client = writer(1)
    settings.EDFI_API = settings.EDFI_API | {"COMPATIBILITY": compatibility}

    response = client.delete(hidden)

    assert response.status_code == 409
    assert response.json()["detail"] == (
        "The requested action cannot be performed because this item is referenced by existing item(s)."
    )
    assert "Link" not in response.headers
    assert response.json()["hints"] == [
        "Other items refer to it, which this client may not read. Who may delete those has to do so first."
    ]


def test_a_conflict_finds_a_readable_referrer_behind_many_others(scenario) -> None:
    for number in range(12):
        scenario.calendar(f"C{number}", 21)
    (type_,) = {each["calendarTypeDescriptor"] for each in scenario.api.get("/calendars").json()}
    (found,) = scenario.api.get(f"/calendarTypeDescriptors?codeValue={type_.rpartition('#')[2]}").json()
    client, path = client_granted(1, Delete=NFA, Read=EO), f"/calendarTypeDescriptors/{found['id']}"
    end = "because this item is referenced by existing item(s)."

    assert client.delete(path).json()["detail"].endswith(end)
    scenario.calendar("C", 11)
    assert client.delete(path).json()["detail"].endswith(end.replace("item(s)", "Calendar item(s)"))


@pytest.mark.parametrize("condition", ["HTTP_IF_MATCH", "HTTP_IF_NONE_MATCH"])
def test_conditions_do_not_tell_the_version_of_a_document_that_the_client_may_not_read(
    scenario, hidden, condition
) -> None:
    """Each of these clients may write it."""
    tag = scenario.api.get(hidden)["ETag"]
    id_ = hidden.rpartition("/")[2]
    for client in (
        writer(1),
        client_granted(1, Create=NFA, Update=NFA, Delete=NFA),
    ):
        for guess in (tag, '"1-l"'):
            header = {condition: guess}
            member = {"ifMatch" if condition == "HTTP_IF_MATCH" else "ifNoneMatch": guess}
            upsert = {"resource": "/ed-fi/students", "document": student(HIDDEN)}
            update = {"op": "update", "resource": "/ed-fi/students", "id": id_, "document": student(HIDDEN)}
            delete = {"op": "delete", "resource": "/ed-fi/students", "id": id_}

            assert client.put(hidden, student(HIDDEN) | {"id": id_}, **header).status_code == 403
            assert client.post("/students", student(HIDDEN), **header).status_code == 403
            assert client.delete(hidden, **header).status_code == 403
            for operation in (upsert, update, delete):
                for mode in ("independent", "atomic"):
                    found = answers(client, *[operation | member] * 2, mode=mode)
                    assert [each["status"] for each in found] == [403, 403]
    assert scenario.api.get(hidden)["ETag"] == tag


def test_conditions_hold_for_clients_that_may_read(scenario, hidden) -> None:
    client = writer(2)
    tag = scenario.api.get(hidden)["ETag"]
    sent = student(HIDDEN, firstName="May")

    assert client.put(hidden, sent | {"id": hidden.rpartition("/")[2]}, HTTP_IF_MATCH='"1-l"').status_code == 412
    found = answers(
        client,
        *[{"resource": "/ed-fi/students", "document": sent, "ifMatch": guess} for guess in ('"1-l"', tag, tag)],
        mode="independent",
    )
    assert [each["status"] for each in found] == [412, 200, 412]


def test_a_batch_that_fails_does_not_tell_whether_a_guess_equals_what_is_stored(scenario, hidden) -> None:
    """People may be created by everyone, so also written over by everyone. What is rolled back tells nothing."""
    client = writer(1)
    stored = scenario.api.get(hidden).json()
    tag = f'"{stored["_etag"]}"'
    equal = {name: stored[name] for name in student(HIDDEN)}
    failing = {"resource": "/ed-fi/students", "document": {}}

    def tried(guess: dict[str, Any]) -> tuple[Any, int]:
        before = newest(scenario)
        upsert = {"resource": "/ed-fi/students", "document": guess}
        found = answers(
            client,
            upsert,
            upsert | {"ifMatch": tag},
            {"op": "delete", "resource": "/ed-fi/students", "id": stored["id"], "ifMatch": tag},
            failing,
            mode="atomic",
        )
        return found, newest(scenario) - before

    assert tried(equal) == tried(equal | {"birthDate": "2011-11-11"})
    assert f'"{scenario.api.get(hidden).json()["_etag"]}"' == tag


def newest(scenario: Scenario) -> int:
    found: int = scenario.api.get("/changeQueries/v1/availableChangeVersions").json()["newestChangeVersion"]
    return found


def test_strict_filters_do_not_tell_whether_a_descriptor_exists_that_the_client_may_not_read(api, scenario) -> None:
    kind = {"codeValue": "K", "shortDescription": "K", "namespace": "uri://other.example/CalendarTypeDescriptor"}
    assert api.post("/calendarTypeDescriptors", kind).status_code == 201
    grant = {"claims": ["ed-fi/calendar"], "actions": ["Read"], "strategies": [EO]}
    load(read_claims(orjson.dumps({"claimSets": [{"name": "Calendars", "grants": [grant]}]})), by="tests")

    def answer(client: ApiTestClient, code: str, handling: str) -> tuple[int, str | None]:
        query = f"calendarTypeDescriptor=uri://other.example/CalendarTypeDescriptor%23{code}"
        found = client.get(f"/calendars?{query}", HTTP_PREFER=f"handling={handling}")
        return found.status_code, found.headers.get("Lenient-Handling")

    client = scenario.client("Calendars", 1)
    for handling in ("strict", "lenient"):
        assert answer(client, "K", handling) == answer(client, "L", handling) == (200, None)
    # Whoever reads all of them is told what does not exist.
    assert [answer(api, code, "strict")[0] for code in "KL"] == [200, 400]
