"""Unresolved references: all of a body are reported at once, with missing descriptors in the keys of targets."""

import pytest

from edfi_api.core.models import Document
from tests.conftest import item_path

PROGRAM_TYPE = "uri://ed-fi.org/ProgramTypeDescriptor"
REFERENCE, DESCRIPTOR = "$.programReference", "$.programReference.programTypeDescriptor"
NO_PROGRAM = ["The referenced Program item does not exist."]
NO_PROGRAM_TYPE = ["ProgramTypeDescriptor value 'uri://ed-fi.org/programtypedescriptor#none' does not exist."]


@pytest.fixture
def association(documents, resource_named):
    """The body of a student's program association whose targets are stored."""
    resource = resource_named("StudentProgramAssociation")
    body = documents.minimal_body(resource)
    documents.store_targets(resource, body)
    return body


def with_program(association, **changes):
    return association | {"programReference": association["programReference"] | changes}


def test_a_descriptor_in_the_key_of_a_missing_target_is_reported_with_the_reference(api, association):
    body = with_program(association, programTypeDescriptor=f"{PROGRAM_TYPE}#None")

    response = api.post("/studentProgramAssociations", body)

    assert response.status_code == 400
    assert response.json() | {"correlationId": "", "hints": []} == {
        "detail": "Data validation failed. See 'validationErrors' for details.",
        "type": "urn:ed-fi:api:bad-request",
        "title": "Bad Request",
        "status": 400,
        "correlationId": "",
        "validationErrors": {DESCRIPTOR: NO_PROGRAM_TYPE, REFERENCE: NO_PROGRAM},
        "errors": [],
        "hints": [],
    }
    assert not Document.objects.filter(resource_type__name="StudentProgramAssociation").exists()


def test_a_put_reports_a_missing_descriptor_in_a_key(api, association):
    path = item_path(api.post("/studentProgramAssociations", association))
    body = with_program(association, programTypeDescriptor=f"{PROGRAM_TYPE}#None")

    response = api.put(path, body | {"id": path.rsplit("/", 1)[1]})

    assert response.status_code == 400
    assert response.json()["validationErrors"] == {DESCRIPTOR: NO_PROGRAM_TYPE, REFERENCE: NO_PROGRAM}


def test_a_missing_target_whose_descriptors_exist_is_a_conflict(api, association):
    response = api.post("/studentProgramAssociations", with_program(association, programName="Chess"))

    assert response.status_code == 409
    assert response.json()["type"] == "urn:ed-fi:api:data-conflict:unresolved-reference"
    assert response.json()["validationErrors"] == {REFERENCE: NO_PROGRAM}


def test_a_descriptor_of_another_type_in_a_key_is_reported_as_such(api, association):
    api.post("/sexDescriptors", {"namespace": "uri://a", "codeValue": "b", "shortDescription": "c"})

    response = api.post("/studentProgramAssociations", with_program(association, programTypeDescriptor="uri://a#B"))

    assert response.status_code == 400
    assert response.json()["validationErrors"] == {
        DESCRIPTOR: ["ProgramTypeDescriptor value 'uri://a#b' is not a valid ProgramTypeDescriptor."],
        REFERENCE: NO_PROGRAM,
    }


def test_descriptors_in_the_keys_of_items_are_reported_by_their_index(api, documents, resource_named):
    resource = resource_named("ReportCard")
    body = documents.full_body(resource)
    documents.store_targets(resource, body)
    grade = body["grades"][0]["gradeReference"]
    descriptor = "uri://ed-fi.org/GradeTypeDescriptor#None"
    body["grades"].append({"gradeReference": grade | {"gradeTypeDescriptor": descriptor}})

    response = api.post("/reportCards", body)

    assert response.status_code == 400
    assert response.json()["validationErrors"] == {
        "$.grades[1].gradeReference.gradeTypeDescriptor": [
            "GradeTypeDescriptor value 'uri://ed-fi.org/gradetypedescriptor#none' does not exist."
        ],
        "$.grades[1].gradeReference": ["The referenced Grade item does not exist."],
    }


def test_one_log_line_has_the_reason_without_values(api, association, log):
    answer = api.post("/studentProgramAssociations", with_program(association, programName="Nowhere"))

    assert answer.status_code == 409
    (line,) = log.requests
    assert {name: line[name] for name in ("status", "problem", "method", "resource", "correlation_id")} == {
        "status": 409,
        "problem": "urn:ed-fi:api:data-conflict:unresolved-reference",
        "method": "POST",
        "resource": "/ed-fi/studentProgramAssociations",
        "correlation_id": answer.json()["correlationId"],
    }
    assert "Nowhere" not in log.text
