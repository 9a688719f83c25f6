"""GET /deletes. See meadowlark/docs/reference/contract.md#change-queries."""

import pytest

from edfi_api.core.models import Document
from tests.conftest import item_path
from tests.support.factories import STUDENT


@pytest.fixture
def student(api):
    return item_path(api.post("/students", STUDENT))


def test_a_delete_has_id_version_and_key_values(api, changes, student):
    api.delete(student)

    assert changes.deletes("students") == [
        {
            "id": student.rsplit("/", 1)[1],
            "changeVersion": changes.newest(),
            "keyValues": {"studentUniqueId": "604822"},
        }
    ]


def test_without_deletes_the_list_is_empty(api, changes, student):
    assert changes.deletes("students") == []
    assert changes.deletes("schools") == []


def test_key_values_have_query_names_and_the_types_of_the_document(api, changes, documents, resource_named):
    documents.store(resource_named("StudentSchoolAssociation"))
    association = Document.objects.get(resource_type__name="StudentSchoolAssociation")

    api.delete(f"/studentSchoolAssociations/{association.document_uuid}")

    (deleted,) = changes.deletes("studentSchoolAssociations")
    assert deleted["keyValues"] == {"entryDate": "2025-08-20", "schoolId": 1008, "studentUniqueId": "Value"}


def test_role_names_stay_in_key_values(api, changes, documents, resource_named):
    documents.store(resource_named("Grade"))
    grade = Document.objects.get(resource_type__name="Grade")

    api.delete(f"/grades/{grade.document_uuid}")

    (deleted,) = changes.deletes("grades")
    assert deleted["keyValues"]["gradingPeriodSchoolYear"] == 2026
    assert deleted["keyValues"]["gradeTypeDescriptor"] == grade.body["gradeTypeDescriptor"]
    assert not any(isinstance(value, dict) for value in deleted["keyValues"].values())


def test_an_education_organization_has_the_key_of_its_own_type(api, changes, documents, resource_named):
    documents.store(resource_named("School"))
    school = Document.objects.get(resource_type__name="School")

    api.delete(f"/schools/{school.document_uuid}")

    assert changes.deletes("schools")[0]["keyValues"] == {"schoolId": 1008}


def test_a_descriptor_has_namespace_and_code_value(api, changes):
    descriptor = {"namespace": "uri://ed-fi.org/SexDescriptor", "codeValue": "Other", "shortDescription": "Other"}
    api.delete(item_path(api.post("/sexDescriptors", descriptor)))

    (deleted,) = changes.deletes("sexDescriptors")
    assert deleted["keyValues"] == {"namespace": "uri://ed-fi.org/SexDescriptor", "codeValue": "Other"}


def test_a_recreated_document_is_left_out(api, changes, student):
    api.delete(student)
    again = item_path(api.post("/students", STUDENT))
    assert changes.deletes("students") == []

    api.delete(again)
    assert [each["id"] for each in changes.deletes("students")] == [student.rsplit("/", 1)[1], again.rsplit("/", 1)[1]]


def test_a_document_recreated_after_the_window_is_listed(api, changes, student):
    """So the pages of a window do not change while a client reads them."""
    api.delete(student)
    newest = changes.newest()
    api.post("/students", STUDENT)

    assert len(changes.deletes("students", 0, newest)) == 1
    assert changes.deletes("students", 0, changes.newest()) == []


def test_another_document_with_the_key_of_the_superclass_is_no_recreation(api, changes, documents, resource_named):
    documents.store(resource_named("School"))
    school = Document.objects.get(resource_type__name="School")
    api.delete(f"/schools/{school.document_uuid}")
    agency = resource_named("LocalEducationAgency")
    body = documents.minimal_body(agency, localEducationAgencyId=1008)
    documents.store_targets(agency, body)
    assert api.post("/localEducationAgencies", body).status_code == 201

    assert len(changes.deletes("schools")) == 1


def test_deletes_come_in_the_order_of_versions_by_page_and_counted(api, changes):
    paths = [item_path(api.post("/students", STUDENT | {"studentUniqueId": str(number)})) for number in range(5)]
    for path in reversed(paths):
        api.delete(path)

    response = api.get("/students/deletes?limit=2&offset=1&totalCount=true")

    assert response["Total-Count"] == "5"
    assert "Next-Page-Token" not in response
    assert [each["keyValues"]["studentUniqueId"] for each in response.json()] == ["3", "2"]


def test_deletes_of_a_window(api, changes):
    paths = [item_path(api.post("/students", STUDENT | {"studentUniqueId": str(number)})) for number in range(3)]
    versions = []
    for path in paths:
        api.delete(path)
        versions.append(changes.newest())

    assert [each["changeVersion"] for each in changes.deletes("students", versions[1], versions[1])] == [versions[1]]
    assert [each["changeVersion"] for each in changes.deletes("students", versions[1])] == versions[1:]
    assert [each["changeVersion"] for each in changes.deletes("students", "", versions[1])] == versions[:2]


@pytest.mark.parametrize("segment", ["deletes", "keyChanges"])
@pytest.mark.parametrize("name", ["pageSize", "pageToken", "studentUniqueId", "colour"])
def test_other_parameters_are_refused(api, segment, name):
    response = api.get(f"/students/{segment}?{name}=1")

    assert response.status_code == 400
    assert response.json()["type"] == "urn:ed-fi:api:bad-request"
    assert response.json()["errors"] == [f"The query field '{name}' is not valid for this Change Query endpoint."]


@pytest.mark.parametrize("segment", ["deletes", "DELETES", "keyChanges", "keychanges"])
@pytest.mark.parametrize("method", ["post", "put", "delete"])
def test_changes_are_read_only(api, segment, method):
    response = api.request(method, f"/students/{segment}", {})

    assert response.status_code == 405
    assert response["Allow"] == "GET, HEAD"
    assert response.json()["errors"] == [f"The endpoint of the request does not support the '{method.upper()}' method."]
