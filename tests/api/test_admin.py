"""The Django admin: documents are found and read there, never changed."""

import pytest

from edfi_api.models import Document


@pytest.fixture
def association(api, documents, resource_named):
    resource = resource_named("StudentSchoolAssociation")
    documents.store(resource)
    return Document.objects.get(resource_type__name="StudentSchoolAssociation")


def test_a_document_is_found_by_the_beginning_of_its_natural_key(admin_client, association):
    page = admin_client.get("/admin/edfi_api/document/?q=NK%23entryDate").content.decode()

    assert association.natural_key in page
    assert "NK#studentUniqueId=Value" not in page


def test_a_documents_page_shows_body_and_neighbours(admin_client, association):
    page = admin_client.get(f"/admin/edfi_api/document/{association.pk}/change/").content.decode()

    assert "&quot;entryDate&quot;: &quot;2025-08-20&quot;" in page
    assert "Student NK#studentUniqueId=Value" in page
    student = Document.objects.get(natural_key="NK#studentUniqueId=Value", resource_type__name="Student")
    page = admin_client.get(f"/admin/edfi_api/document/{student.pk}/change/").content.decode()
    assert f"StudentSchoolAssociation {association.natural_key}" in page


def test_documents_cannot_be_changed_in_the_admin(admin_client, association):
    page = f"/admin/edfi_api/document/{association.pk}/"

    assert admin_client.post(page + "change/", {"natural_key": "x"}).status_code == 403
    assert admin_client.post(page + "delete/", {"post": "yes"}).status_code == 403
    assert admin_client.get("/admin/edfi_api/document/add/").status_code == 403


def test_descriptors_have_a_list_of_their_own(admin_client, association):
    page = admin_client.get("/admin/descriptors/descriptor/").content.decode()

    assert "uri://ed-fi.org/GradeLevelDescriptor" in page
    assert "NK#studentUniqueId=Value" not in page


def test_the_admin_is_closed_without_a_login(client, db):
    response = client.get("/admin/edfi_api/document/")

    assert response.status_code == 302
    assert response["Location"].startswith("/admin/login/")
