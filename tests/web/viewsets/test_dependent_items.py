"""The 409 of a DELETE of a referenced document: a link to its referrers for the client, their ids in the log."""

import pytest

from edfi_api.core.models import Document
from tests.conftest import item_path


@pytest.fixture
def grade_level(api, documents, resource_named):
    """The path of a descriptor referenced by twelve schools."""
    resource = resource_named("School")
    body = documents.minimal_body(resource)
    documents.store_targets(resource, body)
    for number in range(1, 13):
        assert api.post("/schools", body | {"schoolId": number}).status_code == 201
    (found,) = api.get("/gradeLevelDescriptors").json()
    return f"/data/ed-fi/gradeLevelDescriptors/{found['id']}"


def test_the_answer_links_to_the_referrers(api, grade_level):
    response = api.delete(grade_level)

    assert response.status_code == 409
    assert response.json() | {"correlationId": "", "hints": []} == {
        "detail": "The requested action cannot be performed because this item is referenced by existing School "
        "item(s).",
        "type": "urn:ed-fi:api:data-conflict:dependent-item-exists",
        "title": "Dependent Item Exists",
        "status": 409,
        "correlationId": "",
        "validationErrors": {},
        "errors": [],
        "hints": [],
    }
    related = grade_level.replace("/data/", "/relations/v1/")
    assert response["Link"] == f'<http://testserver{related}>; rel="related"'
    assert len(api.get(related).json()) == 12


def test_the_link_has_the_host_and_prefix_of_the_request(api, grade_level):
    response = api.delete(grade_level.replace("/data/", "/data/v3/"), SCRIPT_NAME="/edfi")

    related = grade_level.replace("/data/", "/edfi/relations/v1/")
    assert response["Link"] == f'<http://testserver{related}>; rel="related"'


def test_the_log_has_the_oldest_ten_by_id_and_no_values(api, grade_level, log):
    schools = Document.objects.filter(resource_type__name="School").order_by("id")
    named = ", ".join(f"Ed-Fi.School {uuid}" for uuid in schools.values_list("document_uuid", flat=True)[:10])

    api.delete(grade_level)

    (line,) = log.requests
    assert line["referrers"] == named
    assert f'referrers="{named}"' in line["message"]
    assert "schoolId" not in log.text


def test_all_resources_of_referrers_are_named(api, documents, resource_named):
    for name in ("StudentSchoolAssociation", "StudentSchoolAttendanceEvent"):
        documents.store(resource_named(name))
    (student,) = api.get("/students").json()

    response = api.delete(f"/students/{student['id']}")

    assert response.json()["detail"].endswith(
        "by existing StudentSchoolAssociation, StudentSchoolAttendanceEvent item(s)."
    )
    assert response.json()["errors"] == []


def test_other_refusals_have_no_link(api):
    school_year = {"schoolYear": 2026, "currentSchoolYear": True, "schoolYearDescription": "2025-2026"}
    path = item_path(api.post("/schoolYearTypes", school_year))

    assert "Link" not in api.put(path, school_year)
    assert "Link" not in api.delete(path)
    assert "Link" not in api.delete(path)


def test_a_document_that_refers_to_itself_can_be_deleted(api, documents, resource_named):
    resource = resource_named("LocalEducationAgency")
    itself = {"parentLocalEducationAgencyReference": {"localEducationAgencyId": 7}}
    body = documents.minimal_body(resource, localEducationAgencyId=7, **itself)
    documents.store_targets(resource, documents.minimal_body(resource))
    posted = api.post("/localEducationAgencies", body)
    assert posted.status_code == 201, posted.content

    assert api.delete(item_path(posted)).status_code == 204
    assert api.get(item_path(posted)).status_code == 404
