"""The OpenAPI documents of profiles over HTTP: which there are, and that they are narrowed everywhere."""

import json
from typing import Any

import pytest
from django.test import Client
from openapi_spec_validator import validate

from edfi_api.core.security.profiles.loading import remove_profile
from tests.core.security.profiles.conftest import Store, make_incompatible

LIST = "/metadata/specifications"
NARROW_READ = (
    'IncludeOnly:<Property name="lastSurname"/><Property name="birthStateAbbreviationDescriptor"/>'
    '<Collection name="otherNames" memberSelection="IncludeOnly">'
    '<Property name="otherNameTypeDescriptor"/></Collection>'
    '<Collection name="personalIdentificationDocuments" memberSelection="ExcludeOnly">'
    '<Property name="documentTitle"/><Property name="issuerCountryDescriptor"/></Collection>'
)
NARROW_WRITE = 'ExcludeOnly:<Property name="birthCity"/><Property name="firstName"/><Property name="personReference"/>'
READABLE = "application/vnd.ed-fi.student.counselor.readable+json"
WRITABLE = "application/vnd.ed-fi.student.counselor.writable+json"


def address(name: str) -> str:
    return f"{LIST}/profiles/{name}/resources-spec.json"


def document_of(name: str) -> dict[str, Any]:
    response = Client().get(address(name))
    assert response.status_code == 200
    document = response.json()
    validate(document)
    return document


def schema_named(document: dict[str, Any], name: str) -> dict[str, Any]:
    return document["components"]["schemas"][name]


@pytest.fixture
def counselor(store: Store) -> dict[str, Any]:
    store("Counselor", "Student", read=NARROW_READ, write=NARROW_WRITE)
    return document_of("Counselor")


def test_profiles_that_fit_are_listed_behind_the_other_documents(store: Store) -> None:
    for name in ("Second_One", "A-First", "Removed", "Misfit"):
        store(name, "Student", read="IncludeAll")
    store("A-First", "Student", read=NARROW_READ)
    remove_profile("removed", by="tests")
    make_incompatible("Misfit", "Student")

    for path in (LIST, "/metadata/"):
        listed = Client().get(path).json()
        assert {each["prefix"] for each in listed[:-2]} == {"", "Other"}
        assert [each["name"] for each in listed if each["prefix"] == "Profiles"] == ["Second_One", "A-First"]
        assert listed[-1] == {
            "name": "A-First",
            "endpointUri": "http://testserver/metadata/specifications/profiles/A-First/resources-spec.json",
            "prefix": "Profiles",
        }


def test_a_document_is_served_at_both_addresses_and_under_any_case_of_its_name(store: Store) -> None:
    store("Counselor", "Student", read=NARROW_READ)

    found = Client().get(address("Counselor"))

    assert found["Content-Type"] == "application/json; charset=utf-8"
    for path in (address("cOUNSELOR"), "/metadata/Data/V3/profiles/counselor/swagger.json"):
        assert Client().get(path).content == found.content
    assert Client().get(address("counselor"), headers={"If-None-Match": found["ETag"]}).status_code == 304


def test_unknown_profiles_and_misfits_are_unknown_metadata(store: Store) -> None:
    store("Misfit", "Student", read="IncludeAll")
    make_incompatible("Misfit", "Student")

    for path in (address("none"), address("Misfit"), "/metadata/data/v3/profiles/Misfit/swagger.json"):
        response = Client().get(path)
        assert (response.status_code, response.content) == (404, b"Invalid resource path")


def test_the_title_names_the_profile(counselor: dict[str, Any], standard: str) -> None:
    assert (
        counselor["info"].items()
        >= {
            "title": "Counselor Resources",
            "description": "Profile-filtered API for Counselor. Based on: Ed-Fi API: resources",
            "version": {"3.3.1-b": "3.3.1-b", "4.0": "4.0.0", "5.2": "5.2.0", "6.1": "6.1.0"}[standard],
        }.items()
    )


@pytest.mark.parametrize(
    ("parts", "expected"),
    [
        (
            {"read": "IncludeAll"},
            {"": ["get"], "/{id}": ["get"], "/partitions": ["get"], "/deletes": ["get"], "/keyChanges": ["get"]},
        ),
        ({"write": "IncludeAll"}, {"": ["post"], "/{id}": ["put", "delete"]}),
        (
            {"read": "IncludeAll", "write": "IncludeAll"},
            {
                "": ["get", "post"],
                "/{id}": ["get", "put", "delete"],
                "/partitions": ["get"],
                "/deletes": ["get"],
                "/keyChanges": ["get"],
            },
        ),
    ],
    ids=["read", "write", "both"],
)
def test_paths_have_the_operations_of_the_parts(store: Store, parts: dict[str, str], expected: Any) -> None:
    store("Counselor", "Student", **parts)

    paths = document_of("Counselor")["paths"]

    found = {path: [name for name in item if not name.startswith("x-")] for path, item in paths.items()}
    assert found == {f"/ed-fi/students{suffix}": methods for suffix, methods in expected.items()}


def test_a_resource_without_parts_is_not_described(store: Store) -> None:
    store("Counselor", "Student")

    document = document_of("Counselor")

    assert (document["paths"], document["tags"]) == ({}, [])
    assert list(document["components"]) == ["securitySchemes"]


def test_bodies_have_the_media_types_of_the_profile(counselor: dict[str, Any]) -> None:
    students, student = (counselor["paths"][f"/ed-fi/students{suffix}"] for suffix in ("", "/{id}"))
    one = {"$ref": "#/components/schemas/edFi_student_readable"}

    assert students["get"]["responses"]["200"]["content"] == {READABLE: {"schema": {"type": "array", "items": one}}}
    assert student["get"]["responses"]["200"]["content"] == {READABLE: {"schema": one}}
    for written in (students["post"], student["put"]):
        ((media_type, content),) = written["requestBody"]["content"].items()
        assert media_type == WRITABLE
        assert content["schema"] == {"$ref": "#/components/schemas/edFi_student_writable"}
    (partitions,) = counselor["paths"]["/ed-fi/students/partitions"]["get"]["responses"]["200"]["content"]
    assert partitions == "application/json"


def test_examples_have_what_can_be_written(counselor: dict[str, Any]) -> None:
    posted = counselor["paths"]["/ed-fi/students"]["post"]["requestBody"]["content"][WRITABLE]["example"]

    assert set(posted) == {"studentUniqueId", "birthDate", "lastSurname"}


def test_members_of_the_server_stand_in_what_is_read(store: Store) -> None:
    both = 'ExcludeOnly:<Property name="entryTime"/>'
    store(
        "Counselor",
        "StudentSchoolAssociation",
        read=both.replace("entryTime", "termCompletionIndicator"),
        write=both.replace("entryTime", "termCompletionIndicator"),
    )
    document = document_of("Counselor")

    read, written = (
        schema_named(document, f"edFi_studentSchoolAssociation_{usage}") for usage in ("readable", "writable")
    )

    server = {"_etag", "_lastModifiedDate"}
    assert "id" in written["properties"]  # Of a PUT.
    assert set(read["properties"]) - set(written["properties"]) == server
    assert {"studentReference", "schoolReference", "entryDate"} <= written["properties"].keys()
    assert set(schema_named(document, "edFi_schoolReference_readable")["properties"]) == {"schoolId", "link"}
    assert set(schema_named(document, "edFi_schoolReference_writable")["properties"]) == {"schoolId"}
    assert "link_writable" not in document["components"]["schemas"]


def test_hidden_members_are_removed_at_every_depth(counselor: dict[str, Any], standard: str) -> None:
    read = schema_named(counselor, "edFi_student_readable")["properties"]
    assert set(read) == {
        "id",
        "studentUniqueId",
        "lastSurname",
        "birthStateAbbreviationDescriptor",
        "otherNames",
        "personalIdentificationDocuments",
        "_etag",
        "_lastModifiedDate",
    }
    names = schema_named(counselor, "edFi_studentOtherName_readable")["properties"]
    assert set(names) == {"otherNameTypeDescriptor"}
    documents = schema_named(counselor, "edFi_studentPersonalIdentificationDocument_readable")["properties"]
    assert set(documents) == {
        "identificationDocumentUseDescriptor",
        "personalInformationVerificationDescriptor",
        "documentExpirationDate",
        "issuerDocumentIdentificationCode",
        "issuerName",
    }
    written = schema_named(counselor, "edFi_student_writable")["properties"]
    assert {"firstName", "birthCity", "personReference"} & set(written) == set()
    whole = schema_named(counselor, "edFi_studentPersonalIdentificationDocument_writable")["properties"]
    assert set(whole) == {*documents, "documentTitle", "issuerCountryDescriptor"}


def test_hidden_members_are_not_required(counselor: dict[str, Any]) -> None:
    assert schema_named(counselor, "edFi_student_readable")["required"] == ["lastSurname", "studentUniqueId"]
    written = schema_named(counselor, "edFi_student_writable")["required"]
    assert written == ["birthDate", "lastSurname", "studentUniqueId"]


def test_what_can_be_left_out_of_an_answer_is_not_required_in_it(store: Store) -> None:
    only = '{}:<Collection name="gradeLevels" memberSelection="{}">{}</Collection>'
    value = "<Value>uri://ed-fi.org/GradeLevelDescriptor#Ninth grade</Value>"
    filtered = f'<Filter propertyName="gradeLevelDescriptor" filterMode="ExcludeOnly">{value}</Filter>'
    store("Filtered", "School", read=only.format("ExcludeOnly", "IncludeAll", filtered))
    store("Emptied", "School", read=only.format("ExcludeOnly", "IncludeOnly", ""))
    store("Whole", "School", read='ExcludeOnly:<Property name="webSite"/>')

    required = {
        name: "gradeLevels" in schema_named(document_of(name), "edFi_school_readable")["required"]
        for name in ("Filtered", "Emptied", "Whole")
    }

    assert required == {"Filtered": False, "Emptied": False, "Whole": True}


def test_only_visible_members_can_be_queried(counselor: dict[str, Any]) -> None:
    for path in ("/ed-fi/students", "/ed-fi/students/partitions"):
        parameters = counselor["paths"][path]["get"]["parameters"]
        names = {each["name"] for each in parameters if "name" in each}
        assert names == {"id", "studentUniqueId", "lastSurname", "birthStateAbbreviationDescriptor"}


def test_only_what_is_used_is_described(counselor: dict[str, Any], standard: str) -> None:
    assert [tag["name"] for tag in counselor["tags"]] == ["students"]
    components = counselor["components"]
    # Which the students of 6.1 have no more.
    former = {"edFi_studentIdentificationDocument_writable", "edFi_studentVisa_writable"}
    assert set(components["schemas"]) - (set() if standard == "6.1" else former) == {
        "edFi_student_readable",
        "edFi_studentOtherName_readable",
        "edFi_studentPersonalIdentificationDocument_readable",
        "edFi_student_writable",
        "edFi_studentOtherName_writable",
        "edFi_studentPersonalIdentificationDocument_writable",
        "trackedChanges_edFi_studentDelete",
        "trackedChanges_edFi_studentKey",
        "trackedChanges_edFi_studentKeyChange",
        "partitions",
        "problemDetails",
    }
    assert set(components["securitySchemes"]) == {"oauth2_client_credentials"}


def test_unused_shared_components_are_left_out(store: Store) -> None:
    store("Writer", "Student", write="IncludeAll")

    components = document_of("Writer")["components"]

    assert set(components["parameters"]) == {"id", "IfMatch", "IfNoneMatch", "Prefer"}
    assert "NotModified" not in components["responses"]


def test_hidden_names_occur_nowhere(store: Store) -> None:
    store("Counselor", "Student", read=NARROW_READ)

    text = json.dumps(document_of("Counselor"))

    assert [
        name for name in ("firstName", "birthCity", "personReference", "maidenName", "documentTitle") if name in text
    ] == []
    assert "lastSurname" in text


def test_a_changed_definition_changes_the_document(store: Store) -> None:
    store("Counselor", "Student", read='IncludeOnly:<Property name="lastSurname"/>')
    before = Client().get(address("Counselor"))
    store("Counselor", "Student", read='IncludeOnly:<Property name="firstName"/>')

    after = Client().get(address("Counselor"), headers={"If-None-Match": before["ETag"]})

    assert after.status_code == 200
    assert "firstName" in schema_named(after.json(), "edFi_student_readable")["properties"]
    assert "lastSurname" not in schema_named(after.json(), "edFi_student_readable")["properties"]


def test_descriptors_are_described_with_other_resources(store: Store) -> None:
    store("Counselor", "SexDescriptor", read='ExcludeOnly:<Property name="description"/>')

    document = document_of("Counselor")

    assert set(document["paths"]) >= {"/ed-fi/sexDescriptors", "/ed-fi/sexDescriptors/{id}"}
    read = schema_named(document, "edFi_sexDescriptor_readable")["properties"]
    assert {"namespace", "codeValue"} <= read.keys()
    assert "description" not in read


def test_the_documentation_shows_profiles(store: Store) -> None:
    store("Counselor", "Student", read="IncludeAll")

    page = Client().get("/docs").content.decode()

    assert '{"name": "Profile Counselor", "url": "http://testserver' + address("Counselor") + '"}' in page
