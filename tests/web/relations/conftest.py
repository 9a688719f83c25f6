"""Documents of a student and a school, and requests for related documents."""

import pytest

from edfi_api.core.models import Document

RELATIONS = "/relations/v1/ed-fi"


def related(api, endpoint, document, query=""):
    return request(api, f"/{endpoint}/{document.document_uuid}?{query}")


def request(api, path, method="get"):
    return api.request(method, RELATIONS + path)


def stored(resource):
    return Document.objects.get(resource_type__name=resource)


def endpoints(response):
    return [each["resource"].removeprefix("ed-fi/") for each in response.json()]


@pytest.fixture
def association(api, documents, resource_named):
    """An association of a student and a school, with their targets."""
    documents.store(resource_named("StudentSchoolAssociation"))
    return stored("StudentSchoolAssociation")


@pytest.fixture
def full_association(association, documents, resource_named):
    """Further documents that refer to the same student and school."""
    for name in ("Session", "StudentEducationOrganizationAssociation", "StudentSchoolAttendanceEvent"):
        documents.store(resource_named(name))
    return association
