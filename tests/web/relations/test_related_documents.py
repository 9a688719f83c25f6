"""The referrers and the references of a document, in one request each."""

import pytest
from django.test import Client

from edfi_api.core.models import Document
from tests.support.databases import connection
from tests.support.factories import STUDENT
from tests.web.relations.conftest import RELATIONS, endpoints, related, request, stored

SOME_ID = "01a1fddd-f0aa-7623-8e9f-0e09a8ec83a9"


def test_referrers_of_a_document(api, association):
    response = related(api, "students", stored("Student"))

    assert response.status_code == 200
    assert response.json() == [
        {
            "resource": "ed-fi/studentSchoolAssociations",
            "id": str(association.document_uuid),
            "naturalKey": association.natural_key,
        }
    ]


def test_references_of_a_document(api, association):
    found = endpoints(related(api, "studentSchoolAssociations", association, "direction=outgoing"))

    assert {"students", "schools", "gradeLevelDescriptors"} <= {*found}


def test_referrers_of_a_school_refer_to_it_as_school_or_as_education_organization(api, full_association):
    found = endpoints(related(api, "schools", stored("School")))

    assert "sessions" in found, "refers to it as a School"
    assert "studentEducationOrganizationAssociations" in found, "refers to it as an EducationOrganization"


@pytest.mark.parametrize(("order", "turned"), [("oldest", False), ("newest", True), ("NEWEST", True)])
def test_order_of_creation_ascending_and_descending(api, full_association, order, turned):
    found = related(api, "schools", stored("School"), f"order={order}").json()

    rows = {str(each.document_uuid): each.pk for each in Document.objects.all()}
    assert len(found) > 3
    assert [each["id"] for each in found] == sorted((each["id"] for each in found), key=rows.get, reverse=turned)


@pytest.mark.parametrize("order", ["oldest", "newest"])
@pytest.mark.parametrize("direction", ["incoming", "outgoing"])
def test_pages_contain_every_document_exactly_once(api, full_association, order, direction):
    endpoint, document = (
        ("schools", stored("School"))
        if direction == "incoming"
        else ("studentSchoolAttendanceEvents", stored("StudentSchoolAttendanceEvent"))
    )
    parameters = f"direction={direction}&order={order}"
    everything = related(api, endpoint, document, parameters).json()

    pages, query = [], f"{parameters}&pageSize=2"
    while query:
        response = related(api, endpoint, document, query)
        pages.append(response.json())
        token = response.get("Next-Page-Token")
        query = token and f"{parameters}&pageSize=2&pageToken={token}"

    assert [each for page in pages for each in page] == everything
    assert all(len(page) == 2 for page in pages[:-1])
    assert len(pages) > 2 or direction == "outgoing"


@pytest.fixture
def grade_level(api, documents, resource_named):
    """A descriptor to which every other one of sixteen schools refers."""
    body = documents.minimal_body(resource_named("School"))
    documents.store_targets(resource_named("School"), body)
    uris = []
    for code in ("Fifth", "Sixth"):
        posted = {"namespace": "uri://ed-fi.org/GradeLevelDescriptor", "codeValue": code, "shortDescription": code}
        assert api.post("/gradeLevelDescriptors", posted).status_code == 201
        uris.append({"gradeLevelDescriptor": f"{posted['namespace']}#{code}"})
    for number in range(16):
        school = body | {"schoolId": number + 1, "gradeLevels": [uris[number % 2]]}
        assert api.post("/schools", school).status_code == 201
    return Document.objects.get(resource_type__name="GradeLevelDescriptor", body__codeValue="Fifth")


@pytest.mark.parametrize("few", [1, 3, 5, 8, 1_000])
@pytest.mark.parametrize("order", ["oldest", "newest"])
def test_many_referrers_are_the_same_as_few(api, grade_level, monkeypatch, few, order):
    """Of many, the next documents are looked at first; of a few, all referrers are read."""
    monkeypatch.setattr("edfi_api.web.relations.related.FEW", few)
    schools = Document.objects.filter(resource_type__name="School").order_by("pk" if order == "oldest" else "-pk")
    referrers = [str(each.document_uuid) for each in schools if "Fifth" in str(each.body["gradeLevels"])]

    found, query = [], f"order={order}&pageSize=3"
    while query:
        response = related(api, "gradeLevelDescriptors", grade_level, query)
        found += [each["id"] for each in response.json()]
        token = response.get("Next-Page-Token")
        query = token and f"order={order}&pageSize=3&pageToken={token}"

    assert len(found) == 8
    assert found == referrers


def test_related_documents_can_be_limited_to_some_resources(api, full_association):
    school = stored("School")

    one = related(api, "schools", school, "resource=ed-fi/sessions")
    two = related(api, "schools", school, "resource=Ed-Fi/Sessions&resource=/ed-fi/studentSchoolAssociations")
    none = related(api, "schools", school, "resource=ed-fi/grades")

    assert endpoints(one) == ["sessions"]
    assert {*endpoints(two)} == {"sessions", "studentSchoolAssociations"}
    assert none.json() == []


@pytest.mark.parametrize("links", [True, False])
def test_bodies_equal_those_of_the_resource(api, full_association, settings, links):
    settings.EDFI_API = settings.EDFI_API | {"LINKS": links}

    found = related(api, "schools", stored("School"), "include=body").json()

    for each in found:
        assert each["body"] == api.get(f"/data/{each['resource']}/{each['id']}").json()
    assert len(found) > 3


def test_a_referrer_by_both_identities_is_listed_once(api_without_check, documents, resource_named):
    documents.store(resource_named("StudentEducationOrganizationAssociation"))
    school, both = stored("School"), stored("StudentEducationOrganizationAssociation")
    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO reference (document_id, resource_type_id, alias_id)"
            " SELECT %s, %s, referential_id FROM alias WHERE document_id = %s ON CONFLICT DO NOTHING",
            [both.pk, both.resource_type_id, school.pk],
        )

    found = endpoints(related(api_without_check, "schools", school))

    assert found.count("studentEducationOrganizationAssociations") == 1


def test_a_document_without_related_documents_has_an_empty_page(api):
    student = api.post("/students", STUDENT)

    response = request(api, "/students" + student["Location"].rpartition("/students")[2])

    assert (response.status_code, response.json()) == (200, [])
    assert "Next-Page-Token" not in response


def test_a_missing_document_is_not_found(api, association):
    assert request(api, f"/students/{SOME_ID}").status_code == 404
    assert related(api, "schools", stored("Student")).status_code == 404, "it is no school"


@pytest.mark.parametrize("path", ["/unknowns/" + SOME_ID, "/students", "/", "/educationOrganizations/" + SOME_ID])
def test_an_unknown_path_is_a_problem(api, path):
    response = request(api, path)

    assert response.status_code == 404
    assert response.json()["type"] == "urn:ed-fi:api:not-found"


def test_an_id_that_is_no_uuid_is_refused(api):
    response = request(api, "/students/1")

    assert response.status_code == 400
    assert response.json()["validationErrors"] == {"$.id": ["The value '1' is not valid."]}


@pytest.mark.parametrize("method", ["post", "put", "delete"])
def test_relations_are_read_only(api, method):
    response = request(api, f"/students/{SOME_ID}", method)

    assert response.status_code == 405
    assert response["Allow"] == "GET, HEAD"


@pytest.mark.parametrize("path", ["/students/" + SOME_ID, "/unknowns/1", "/nothing"])
def test_requests_without_a_token_are_401(db, path):
    assert Client().get(RELATIONS + path).status_code == 401


def test_all_problems_of_a_query_are_reported_together(api, association):
    query = "direction=up&order=x&include=links&resource=ed-fi/none&resource=ed-fi/students&pageSize=501&pageToken=!"

    response = related(api, "students", stored("Student"), query)

    assert response.status_code == 400
    assert response.json()["type"] == "urn:ed-fi:api:bad-request:parameter-validation-failed"
    assert response.json()["errors"] == [
        "Direction must be one of: incoming, outgoing.",
        "Order must be one of: oldest, newest.",
        "Resource 'ed-fi/none' is unknown; it must read like ed-fi/students.",
        "Include must be one of: body.",
        "PageSize must be a value between 0 and 500.",
        "The page token provided was invalid.",
    ]


def test_an_unknown_parameter_is_refused(api, association):
    response = related(api, "students", stored("Student"), "Colour=red")

    assert response.status_code == 400
    assert response.json()["errors"] == ["The query field 'Colour' is not valid for this resource."]
