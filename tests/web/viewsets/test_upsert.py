"""POST and PUT: replacement in full, no-op writes, fixed identities, superclass uniqueness."""

from uuid import uuid4

import pytest

from edfi_api.core.models import Document
from references.models import Alias, Reference
from tests.conftest import item_path
from tests.support.factories import STUDENT


@pytest.fixture
def student(api):
    return item_path(api.post("/students", STUDENT))


def test_post_replaces_the_document_in_full(api, student):
    api.post("/students", STUDENT | {"middleName": "Ann"})
    response = api.post("/students", STUDENT | {"firstName": "May"})

    body = api.get(student).json()
    assert response.status_code == 200
    assert body["firstName"] == "May"
    assert "middleName" not in body


def test_a_change_increases_etag_and_change_version(api, student):
    before = Document.objects.get()

    response = api.post("/students", STUDENT | {"firstName": "May"})

    after = Document.objects.get()
    assert after.change_version > before.change_version
    assert after.document_uuid == before.document_uuid
    assert response["ETag"] == f'"{after.change_version}-l"'


def test_put_with_the_same_content_changes_nothing(api, student):
    before = Document.objects.values().get()

    response = api.put(student, STUDENT | {"id": student.rsplit("/", 1)[1]})

    assert response.status_code == 204
    assert Document.objects.values().get() == before


def test_put_replaces_the_document_and_sends_its_location(api, student):
    response = api.put(student, STUDENT | {"id": student.rsplit("/", 1)[1], "firstName": "May"})

    assert response.status_code == 204
    assert response.content == b""
    assert item_path(response) == student
    assert api.get(student).json()["firstName"] == "May"


def test_put_never_creates(api, db):
    missing = uuid4()

    response = api.put(f"/students/{missing}", STUDENT | {"id": str(missing)})

    assert response.status_code == 404
    assert response.json()["detail"] == "Resource to update was not found"
    assert not Document.objects.exists()


def test_put_without_an_id_reports_it_with_all_other_missing_members(api, student):
    body = {name: value for name, value in STUDENT.items() if name != "birthDate"}

    response = api.put(student, body)

    assert response.status_code == 400
    assert response.json()["validationErrors"] == {
        "$.id": ["id is required."],
        "$.birthDate": ["birthDate is required."],
    }


def test_put_with_another_id_is_refused(api, student):
    response = api.put(student, STUDENT | {"id": str(uuid4())})

    assert response.status_code == 400
    assert response.json()["errors"] == ["Request body id must match the id in the url."]


def test_put_cannot_change_a_fixed_identity(api, student):
    response = api.put(student, STUDENT | {"id": student.rsplit("/", 1)[1], "studentUniqueId": "other"})

    assert response.status_code == 400
    problem = response.json()
    assert problem["type"] == "urn:ed-fi:api:bad-request:data-validation-failed:key-change-not-supported"
    assert problem["detail"] == (
        "Identifying values for the Student resource cannot be changed. Delete and recreate the resource item instead."
    )
    assert api.get(student).json()["studentUniqueId"] == "604822"


def test_the_id_of_another_resource_is_not_found(api, student):
    path = student.replace("/students/", "/staffs/")

    assert api.get(path).status_code == 404
    assert api.delete(path).status_code == 404
    assert api.get(student).status_code == 200


def test_a_client_cannot_assign_the_id(api):
    response = api.post("/students", STUDENT | {"Id": str(uuid4())})

    assert response.status_code == 400
    problem = response.json()
    assert problem["detail"] == "The request data was constructed incorrectly."
    assert problem["validationErrors"] == {"$.Id": ["Id is not a member of this resource; its name is spelt id."]}


def test_a_null_id_counts_as_absent(api):
    assert api.post("/students", STUDENT | {"id": None}).status_code == 201


def test_members_of_an_earlier_answer_are_ignored(api, student):
    read = api.get(student).json()
    del read["id"]

    response = api.post("/students", read)

    assert response.status_code == 200
    assert Document.objects.get().body == STUDENT


def test_two_education_organizations_cannot_have_the_same_id(api, documents, resource_named):
    school, agency = resource_named("School"), resource_named("LocalEducationAgency")
    documents.store(school)
    body = documents.minimal_body(agency, localEducationAgencyId=documents.minimal_body(school)["schoolId"])
    documents.store_targets(agency, body)

    response = api.post("/localEducationAgencies", body)

    assert response.status_code == 409
    problem = response.json()
    assert problem["type"] == "urn:ed-fi:api:identity-conflict"
    assert problem["errors"] == [
        "A natural key conflict occurred when attempting to create a new resource LocalEducationAgency with a "
        f"duplicate key. The duplicate keys and values are (localEducationAgencyId = {body['localEducationAgencyId']})"
    ]


@pytest.mark.parametrize(
    ("member", "refusal"),
    [
        (
            {"parentLocalEducationAgencyReference": {"localEducationAgencyId": 77}},
            (409, "urn:ed-fi:api:data-conflict:unresolved-reference"),
        ),
        (
            {"charterStatusDescriptor": "uri://ed-fi.org/CharterStatusDescriptor#No such"},
            (400, "urn:ed-fi:api:bad-request"),
        ),
    ],
)
def test_unresolved_references_are_reported_before_an_identity_conflict(
    api, documents, resource_named, member, refusal
):
    school, agency = resource_named("School"), resource_named("LocalEducationAgency")
    documents.store(school)
    body = documents.minimal_body(agency, localEducationAgencyId=documents.minimal_body(school)["schoolId"])
    documents.store_targets(agency, body)

    response = api.post("/localEducationAgencies", body | member)

    assert (response.status_code, response.json()["type"]) == refusal


def test_an_update_keeps_only_the_references_of_the_new_body(api, documents, resource_named, standard):
    resource = resource_named("Student")
    full = documents.full_body(resource)
    documents.store_targets(resource, full)
    path = item_path(api.post("/students", full))
    referred_before = Reference.objects.filter(document__natural_key="NK#studentUniqueId=Value").count()

    api.post("/students", documents.minimal_body(resource))

    assert referred_before == (7 if standard == "6.1" else 9)
    assert Reference.objects.filter(document__natural_key="NK#studentUniqueId=Value").count() == 0
    assert api.delete(path).status_code == 204
    assert not Alias.objects.filter(document__natural_key="NK#studentUniqueId=Value").exists()
