"""Related documents are read as if each had been asked for: what a client may not read is not listed."""

import orjson
import pytest

from edfi_api.security.claims_file import read_claims
from edfi_api.security.claims_store import load
from tests.conftest import ApiTestClient, new_token
from tests.relations.conftest import endpoints, related, stored

EVERYONES = "NoFurtherAuthorizationRequired"


@pytest.fixture
def reader(full_association):
    """A client that may read students and their enrolments, and nothing else."""
    claims = ["ed-fi/student", "ed-fi/studentSchoolAssociation"]
    grant = {"claims": claims, "actions": ["Read"], "strategies": [EVERYONES]}
    load(read_claims(orjson.dumps({"claimSets": [{"name": "Enrolments", "grants": [grant]}]})), by="tests")
    return ApiTestClient(new_token("reader", "Enrolments"))


def test_resources_that_a_client_may_not_read_are_left_out(api, reader):
    student = stored("Student")

    assert len({*endpoints(related(api, "students", student))}) > 2
    assert endpoints(related(reader, "students", student)) == ["studentSchoolAssociations"]
    assert related(reader, "students", student, "resource=ed-fi/studentSchoolAttendanceEvents").json() == []


def test_what_a_document_refers_to_is_left_out_too(reader, full_association):
    assert endpoints(related(reader, "studentSchoolAssociations", full_association, "direction=outgoing")) == [
        "students"
    ]


def test_who_may_not_read_a_document_does_not_learn_what_refers_to_it(reader):
    response = related(reader, "schools", stored("School"))

    assert response.status_code == 403
    assert response.json()["type"].startswith("urn:ed-fi:api:security:authorization")
