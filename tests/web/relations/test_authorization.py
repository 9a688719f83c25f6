"""Related documents that the client may not read are not listed."""

import orjson
import pytest

from edfi_api.core.security.claims.file import read_claims
from edfi_api.core.security.claims.stored_claims import load
from tests.conftest import ApiTestClient, new_token
from tests.web.relations.conftest import endpoints, related, stored

EVERYONES = "NoFurtherAuthorizationRequired"


@pytest.fixture
def reader(full_association):
    """A client that may read only students and their enrollments."""
    claims = ["ed-fi/student", "ed-fi/studentSchoolAssociation"]
    grant = {"claims": claims, "actions": ["Read"], "strategies": [EVERYONES]}
    load(read_claims(orjson.dumps({"claimSets": [{"name": "Enrolments", "grants": [grant]}]})), by="tests")
    return ApiTestClient(new_token("reader", "Enrolments"))


def test_resources_that_a_client_may_not_read_are_left_out(api, reader):
    student = stored("Student")

    assert len({*endpoints(related(api, "students", student))}) > 2
    assert endpoints(related(reader, "students", student)) == ["studentSchoolAssociations"]
    assert related(reader, "students", student, "resource=ed-fi/studentSchoolAttendanceEvents").json() == []


def test_unreadable_references_of_a_document_are_left_out(reader, full_association):
    assert endpoints(related(reader, "studentSchoolAssociations", full_association, "direction=outgoing")) == [
        "students"
    ]


def test_referrers_of_an_unreadable_document_are_not_disclosed(reader):
    response = related(reader, "schools", stored("School"))

    assert response.status_code == 403
    assert response.json()["type"].startswith("urn:ed-fi:api:security:authorization")


def test_resources_whose_strategies_cannot_be_applied_are_left_out(full_association, api):
    """Descriptors have no organization; a GET of them reports the configuration error."""
    grant = {"claims": ["domains/everything"], "actions": ["Read"], "strategies": ["RelationshipsWithEdOrgsAndPeople"]}
    load(read_claims(orjson.dumps({"claimSets": [{"name": "Everything", "grants": [grant]}]})), by="tests")
    school = api.get("/schools").json()[0]["schoolId"]
    reader = ApiTestClient(new_token("reader", "Everything", education_organization_ids=[school]))

    outgoing = related(reader, "studentSchoolAssociations", full_association, "direction=outgoing")

    assert sorted(endpoints(outgoing)) == ["schools", "students"]
    assert reader.get("/gradeLevelDescriptors").status_code == 500


@pytest.fixture
def of_one_school(full_association, api):
    """A client of another school, which has an enrollment of the same student."""
    school = api.get("/schools").json()[0]
    changed = {"schoolId": 77, "nameOfInstitution": "Another"}
    api.post("/schools", {name: value for name, value in school.items() if name[0] != "_" and name != "id"} | changed)
    enrolment = full_association.body | {"schoolReference": {"schoolId": 77}}
    enrolled = api.post("/studentSchoolAssociations", enrolment)
    assert enrolled.status_code == 201, enrolled.content
    strategies = {"ed-fi/student": EVERYONES, "ed-fi/studentSchoolAssociation": "RelationshipsWithEdOrgsOnly"}
    grants = [{"claims": [claim], "actions": ["Read"], "strategies": [name]} for claim, name in strategies.items()]
    load(read_claims(orjson.dumps({"claimSets": [{"name": "Of one school", "grants": grants}]})), by="tests")
    token = new_token("reader", "Of one school", education_organization_ids=[77])
    return ApiTestClient(token), enrolled["Location"].rpartition("/")[2]


def test_documents_that_a_client_may_not_read_are_left_out(of_one_school):
    client, enrolment = of_one_school

    found = related(client, "students", stored("Student"), "include=body").json()

    assert [each["id"] for each in found] == [enrolment]


def test_relations_of_an_unreadable_document_are_refused(of_one_school, full_association):
    client, _ = of_one_school
    path = f"/studentSchoolAssociations/{full_association.document_uuid}"

    response = related(client, "studentSchoolAssociations", full_association, "direction=outgoing")

    assert response.status_code == 403
    assert response.json() | {"correlationId": ""} == client.get(path).json() | {"correlationId": ""}
