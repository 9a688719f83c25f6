"""Descriptors are resources; their URIs are compared case-insensitively."""

import pytest

from edfi_api.core.models import Document
from tests.conftest import item_path

NAMESPACE = "uri://ed-fi.org/SexDescriptor"
FEMALE = {"namespace": NAMESPACE, "codeValue": "Female", "shortDescription": "Female"}


@pytest.fixture
def female(api):
    return item_path(api.post("/sexDescriptors", FEMALE))


def student(**changes):
    required = {"studentUniqueId": "1", "firstName": "Mae", "lastSurname": "Ortiz", "birthDate": "2010-02-03"}
    return required | changes


def test_the_same_value_in_another_case_is_the_same_descriptor(api, female):
    response = api.post("/sexDescriptors", FEMALE | {"codeValue": "FEMALE", "namespace": NAMESPACE.upper()})

    assert response.status_code == 200
    assert item_path(response) == female
    assert Document.objects.count() == 1


def test_a_reference_is_served_in_the_casing_of_the_descriptor(api, female):
    response = api.post("/students", student(birthSexDescriptor=f"{NAMESPACE}#fEMALE"))

    assert response.status_code == 201
    assert api.get(item_path(response)).json()["birthSexDescriptor"] == f"{NAMESPACE}#Female"


def test_a_value_in_another_case_changes_nothing(api, female):
    first = api.post("/students", student(birthSexDescriptor=f"{NAMESPACE}#Female"))
    second = api.post("/students", student(birthSexDescriptor=f"{NAMESPACE}#FEMALE"))

    assert first["ETag"] == second["ETag"]


def test_a_query_finds_a_descriptor_in_any_case(api, female):
    api.post("/students", student(birthSexDescriptor=f"{NAMESPACE}#Female"))

    assert len(api.get(f"/students?birthSexDescriptor={NAMESPACE.upper()}%23FEMALE").json()) == 1
    assert api.get(f"/students?birthSexDescriptor={NAMESPACE}%23Unknown").json() == []


def test_a_query_finds_a_descriptor_that_is_part_of_a_referenced_key(api, documents, resource_named):
    resource = resource_named("StudentProgramAssociation")
    documents.store(resource)
    uri = documents.minimal_body(resource)["programReference"]["programTypeDescriptor"]

    query = uri.upper().replace("#", "%23")
    assert len(api.get(f"/studentProgramAssociations?programTypeDescriptor={query}").json()) == 1


def test_a_descriptor_in_use_cannot_be_deleted(api, female):
    api.post("/students", student(birthSexDescriptor=f"{NAMESPACE}#Female"))

    response = api.delete(female)

    assert response.status_code == 409
    assert response.json()["detail"].endswith("referenced by existing Student item(s).")


def test_the_description_of_a_descriptor_may_change_but_not_its_identity(api, female):
    body = api.get(female).json()

    described = api.put(female, body | {"description": "As on the birth certificate", "shortDescription": "F"})
    renamed = api.put(female, body | {"codeValue": "Woman"})

    assert described.status_code == 204
    assert api.get(female).json()["shortDescription"] == "F"
    assert renamed.status_code == 400
    assert renamed.json()["detail"] == (
        "Identity of resource 'Ed-Fi.SexDescriptor' cannot be changed. Descriptor identity fields (Namespace, "
        "CodeValue) are immutable on PUT."
    )


def test_code_value_and_short_description_are_stripped(api):
    api.post("/sexDescriptors", FEMALE | {"codeValue": " Female ", "shortDescription": "Female  "})

    assert Document.objects.get().body == FEMALE


@pytest.mark.parametrize(
    ("change", "path", "message"),
    [
        ({"codeValue": " "}, "$.codeValue", "codeValue Value should be at least 1 characters"),
        ({"namespace": f" {NAMESPACE}"}, "$.namespace", "namespace cannot contain leading or trailing spaces."),
        ({"codeValue": "x" * 51}, "$.codeValue", "codeValue Value should be at most 50 characters"),
        ({"shortDescription": None}, "$.shortDescription", "shortDescription is required."),
    ],
)
def test_invalid_members_of_a_descriptor_are_refused(api, change, path, message):
    response = api.post("/sexDescriptors", FEMALE | change)

    assert response.status_code == 400
    assert response.json()["validationErrors"] == {path: [message]}


def test_a_value_of_another_descriptor_type_is_not_valid_here(api, female):
    response = api.post("/students", student(birthCountryDescriptor=f"{NAMESPACE}#Female"))

    assert response.status_code == 400
    assert response.json()["validationErrors"] == {
        "$.birthCountryDescriptor": [
            "CountryDescriptor value 'uri://ed-fi.org/sexdescriptor#female' is not a valid CountryDescriptor."
        ]
    }


def test_a_namespace_with_a_number_sign_cannot_take_the_uri_of_another_descriptor(api):
    kept = {"namespace": "uri://ed-fi.org/SexDescriptor", "codeValue": "A#B", "shortDescription": "The first"}
    path = item_path(api.post("/sexDescriptors", kept))
    same_uri = {"namespace": "uri://ed-fi.org/SexDescriptor#A", "codeValue": "B", "shortDescription": "The second"}

    posted = api.post("/sexDescriptors", same_uri)
    put = api.put(path, same_uri | {"id": path.rsplit("/", 1)[1]})

    for response in (posted, put):
        assert response.status_code == 400
        assert response.json()["validationErrors"] == {
            "$.namespace": ["namespace cannot contain '#', behind which a descriptor's URI has the code value."]
        }
    assert api.get(path).json()["shortDescription"] == "The first"


def test_a_descriptor_that_is_created_again_in_another_case_is_used_in_that(api, female):
    api.post("/students", student(birthSexDescriptor=f"{NAMESPACE}#female"))
    [path] = [f"/data/ed-fi/students/{each['id']}" for each in api.get("/students").json()]
    for delete in (path, female):
        assert api.delete(delete).status_code == 204
    api.post("/sexDescriptors", FEMALE | {"codeValue": "FEMALE"})

    again = api.post("/students", student(birthSexDescriptor=f"{NAMESPACE}#female"))

    assert api.get(item_path(again)).json()["birthSexDescriptor"] == f"{NAMESPACE}#FEMALE"
