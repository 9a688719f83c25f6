"""Reference objects are served with a link to their target."""

import pytest

from edfi_api.core.models import Document


@pytest.fixture
def association(api, documents, resource_named):
    documents.store(resource_named("StudentEducationOrganizationAssociation"))
    return Document.objects.get(resource_type__name="StudentEducationOrganizationAssociation")


def path_of(document, endpoint="studentEducationOrganizationAssociations"):
    return f"/{endpoint}/{document.document_uuid}"


def test_a_reference_links_to_its_target(api, association):
    student = Document.objects.get(resource_type__name="Student")

    reference = api.get(path_of(association)).json()["studentReference"]

    assert list(reference) == ["studentUniqueId", "link"]
    assert reference["link"] == {"rel": "Student", "href": f"/ed-fi/students/{student.document_uuid}"}


def test_a_reference_to_an_abstract_resource_links_to_the_concrete_one(api, association):
    school = Document.objects.get(resource_type__name="School")

    link = api.get(path_of(association)).json()["educationOrganizationReference"]["link"]

    assert link == {"rel": "School", "href": f"/ed-fi/schools/{school.document_uuid}"}


def test_references_within_arrays_of_a_page_have_links(api, documents, resource_named):
    resource = resource_named("BellSchedule")
    body = documents.full_body(resource)
    documents.store_targets(resource, body)
    api.post("/bellSchedules", body)
    class_period = Document.objects.get(resource_type__name="ClassPeriod")

    served = api.get("/bellSchedules").json()[0]

    assert served["classPeriods"][0]["classPeriodReference"]["link"] == {
        "rel": "ClassPeriod",
        "href": f"/ed-fi/classPeriods/{class_period.document_uuid}",
    }


def test_a_read_document_can_be_sent_back_unchanged(api, association):
    before = Document.objects.values().get(pk=association.pk)

    response = api.put(path_of(association), api.get(path_of(association)).json())

    assert response.status_code == 204
    assert Document.objects.values().get(pk=association.pk) == before


def test_links_can_be_disabled(api, association, settings):
    with_links = api.get(path_of(association))["ETag"]
    settings.EDFI_API = settings.EDFI_API | {"LINKS": False}

    response = api.get(path_of(association))

    assert "link" not in response.json()["studentReference"]
    assert response["ETag"] != with_links
