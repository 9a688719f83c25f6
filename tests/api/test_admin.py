"""The Django admin: documents are found and read there, never changed."""

import pytest

from edfi_api.models import Document


@pytest.fixture
def association(api, documents, resource_named):
    resource = resource_named("StudentSchoolAssociation")
    documents.store(resource)
    return Document.objects.get(resource_type__name="StudentSchoolAssociation")


def test_a_document_is_found_by_its_natural_key(admin_client, association):
    page = admin_client.get("/admin/edfi_api/document/", {"q": association.natural_key}).content.decode()

    assert f"/admin/edfi_api/document/{association.pk}/change/" in page
    assert "1 document" in page


def test_a_descriptor_is_found_by_its_natural_key(admin_client, association):
    key = "NK#uri://ed-fi.org/GradeLevelDescriptor#Value"

    page = admin_client.get("/admin/edfi_api/document/", {"q": key}).content.decode()

    assert f">{key}</a>" in page
    assert "1 document" in page


def test_a_document_is_found_by_the_beginning_of_its_key_among_those_of_its_resource(admin_client, association):
    query = {"q": "NK#entryDate", "resource_type__id__exact": association.resource_type_id}

    page = admin_client.get("/admin/edfi_api/document/", query).content.decode()

    assert f">{association.natural_key}</a>" in page


def test_a_document_is_found_by_its_id(admin_client, association):
    page = admin_client.get("/admin/edfi_api/document/", {"q": str(association.document_uuid)}).content.decode()

    assert f">{association.natural_key}</a>" in page
    assert "1 document" in page


def test_a_documents_page_shows_body_and_neighbours(admin_client, association):
    page = admin_client.get(f"/admin/edfi_api/document/{association.pk}/change/").content.decode()

    assert "&quot;entryDate&quot;: &quot;2025-08-20&quot;" in page
    student = Document.objects.get(natural_key="NK#studentUniqueId=Value", resource_type__name="Student")
    assert f'/document/{student.pk}/change/">Student NK#studentUniqueId=Value</a>' in page
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
