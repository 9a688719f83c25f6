"""The OpenAPI documents are valid, complete, and agree with the server."""

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
from openapi_spec_validator import validate

from edfi_api.model.surface.resource import Surface
from edfi_api.web.metadata.fixed_documents import DOCUMENTS
from edfi_api.web.metadata.openapi import descriptors_document, resources_document
from tests.conftest import http
from tests.model.surface.models import SurfaceOf

ROOT = "https://h/edfi"
METHODS = ("get", "post", "put", "delete")
OF_ALL_RESOURCES = (resources_document, descriptors_document)
BUILDERS = (*OF_ALL_RESOURCES, *DOCUMENTS.values())


@pytest.fixture(scope="module")
def document(surface: Surface) -> dict[str, Any]:
    return resources_document(surface, ROOT)


def operations(document: dict[str, Any]) -> list[dict[str, Any]]:
    return [item[method] for item in document["paths"].values() for method in METHODS if method in item]


def objects(value: Any) -> Iterator[dict[str, Any]]:
    """All JSON objects in a document, itself included."""
    if isinstance(value, dict):
        yield value
        value = list(value.values())
    if isinstance(value, list):
        for each in value:
            yield from objects(each)


# Validating a document of all resources takes seconds; one of some resources is validated below.
@pytest.mark.parametrize(
    "build", [*DOCUMENTS.values(), *(pytest.param(build, marks=pytest.mark.long) for build in OF_ALL_RESOURCES)]
)
def test_documents_are_valid(build, surface: Surface) -> None:
    validate(build(surface, ROOT))


@pytest.mark.parametrize("name", DOCUMENTS)
def test_every_placeholder_of_a_fixed_document_is_filled(name: str, surface: Surface) -> None:
    document = json.dumps(DOCUMENTS[name](surface, ROOT))

    assert "${" not in document
    assert "x-setting" not in document


def test_a_document_with_extensions_is_valid(surface_of: SurfaceOf) -> None:
    surface = surface_of(
        """
Domain Entity School
  integer SchoolId is part of identity
""",
        TPDM="""
Domain Entity EdFi.School additions
  string Mascot is required
Domain Entity Candidate
  string Code is part of identity
""",
    )

    document = resources_document(surface, ROOT)

    validate(document)
    assert document["paths"]["/tpdm/candidates"]["get"]["operationId"] == "getTpdmCandidates"
    assert document["paths"]["/ed-fi/schools"]["get"]["operationId"] == "getSchools"


def test_every_resource_has_its_eight_operations(document: dict[str, Any], standard: str) -> None:
    assert len(document["paths"]) == 5 * {"3.3.1-b": 114, "4.0": 125, "5.2": 138, "6.1": 192}[standard]
    assert set(document["paths"]["/ed-fi/students"]) >= {"get", "post"}
    assert set(document["paths"]["/ed-fi/students/{id}"]) >= {"get", "put", "delete"}
    for segment in ("partitions", "deletes", "keyChanges"):
        assert set(document["paths"][f"/ed-fi/students/{segment}"]) >= {"get"}


def test_the_described_methods_are_those_served(document: dict[str, Any], api) -> None:
    """HEAD, which is available with every GET, is described once."""
    some_id = "01a1fddd-f0aa-7623-8e9f-0e09a8ec83a9"

    for path in ("", "/{id}", "/partitions", "/deletes", "/keyChanges"):
        allowed = api.request("patch", f"/students{path.format(id=some_id)}")["Allow"].lower().split(", ")
        described = [method for method in METHODS if method in document["paths"][f"/ed-fi/students{path}"]]
        assert sorted(allowed) == sorted([*described, "head"])


@pytest.mark.parametrize("build", BUILDERS)
def test_documents_say_that_head_is_answered(build, surface: Surface) -> None:
    sentence = "HEAD is answered wherever GET is, with the same status and headers and without a body."
    assert sentence in build(surface, ROOT)["info"]["description"]


def test_every_operation_has_responses_and_a_tag(document: dict[str, Any]) -> None:
    tags = {tag["name"]: tag["description"] for tag in document["tags"]}

    for operation in operations(document):
        assert {"400", "401", "403", "500"} <= operation["responses"].keys()
        assert all(tags[tag] for tag in operation["tags"])
        assert operation["summary"]


def test_operation_ids_are_unique_across_documents(surface: Surface, document: dict[str, Any]) -> None:
    both = [*operations(document), *operations(descriptors_document(surface, ROOT))]

    assert len({operation["operationId"] for operation in both}) == len(both)


def test_every_operation_has_a_description_and_nothing_stands_beside_a_ref(document: dict[str, Any]) -> None:
    """OpenAPI 3.0 ignores siblings of a `$ref`."""
    assert all(each["description"] for each in operations(document))
    assert [each for each in objects(document) if "$ref" in each and len(each) > 1] == []


def test_every_component_is_used(surface: Surface) -> None:
    for build in BUILDERS:
        document = build(surface, ROOT)
        listed = {f"#/components/{kind}/{name}" for kind, each in document["components"].items() for name in each}
        used = {each["$ref"] for each in objects(document) if "$ref" in each}
        assert {each for each in listed - used if "/securitySchemes/" not in each} == set()


def test_values_that_may_be_absent_may_be_null(document: dict[str, Any]) -> None:
    """Generators for typed languages make a value that can be absent only of a `nullable` one."""
    student = document["components"]["schemas"]["edFi_student"]["properties"]

    assert student["middleName"]["nullable"] is student["middleName"]["x-nullable"] is True
    assert "nullable" not in student["firstName"]


def test_an_id_has_the_same_type_in_paths_and_bodies(document: dict[str, Any]) -> None:
    assert document["components"]["parameters"]["id"]["schema"] == {"type": "string"}
    assert document["components"]["schemas"]["edFi_student"]["properties"]["id"]["type"] == "string"


def test_documents_name_a_contact_and_a_license(surface: Surface) -> None:
    for build in BUILDERS:
        information = build(surface, ROOT)["info"]
        assert information["contact"] == {"name": "The operator of this server", "url": ROOT}
        assert information["license"]["url"] == "https://www.apache.org/licenses/LICENSE-2.0"


def test_every_ref_resolves(document: dict[str, Any]) -> None:
    targets = set(re.findall(r"'\$ref': '#/components/(\w+)/(\w+)'", str(document)))

    assert {(kind, name) for kind, name in targets if name not in document["components"][kind]} == set()
    assert ("schemas", "edFi_schoolReference") in targets


def test_query_parameters_have_type_description_and_identity(document: dict[str, Any], standard: str) -> None:
    parameters = document["paths"]["/ed-fi/studentSchoolAssociations"]["get"]["parameters"]
    named = {parameter["name"]: parameter for parameter in parameters if "name" in parameter}

    assert parameters[:10] == [
        {"$ref": "#/components/parameters/offset"},
        {"$ref": "#/components/parameters/limit"},
        {"$ref": "#/components/parameters/pageToken"},
        {"$ref": "#/components/parameters/pageSize"},
        {"$ref": "#/components/parameters/totalCount"},
        {"$ref": "#/components/parameters/orderBy"},
        {"$ref": "#/components/parameters/fields"},
        {"$ref": "#/components/parameters/comparisons"},
        {"$ref": "#/components/parameters/MinChangeVersion"},
        {"$ref": "#/components/parameters/MaxChangeVersion"},
    ]
    assert named["schoolId"] == {
        "name": "schoolId",
        "in": "query",
        "description": "The identifier of the school.",
        "schema": {
            "type": "integer",
            "format": {"3.3.1-b": "int32", "4.0": "int32", "5.2": "int64", "6.1": "int64"}[standard],
        },
        "x-Ed-Fi-isIdentity": True,
    }
    assert named["entryDate"]["schema"] == {"type": "string", "format": "date"}
    assert "x-Ed-Fi-isIdentity" not in named["exitWithdrawDate"]


def test_page_sizes_are_those_of_the_settings(surface: Surface, settings) -> None:
    settings.EDFI_API = {**settings.EDFI_API, "MAX_PAGE_SIZE": 77, "DEFAULT_PAGE_SIZE": 5}

    limit = resources_document(surface, ROOT)["components"]["parameters"]["limit"]["schema"]

    assert (limit["maximum"], limit["default"]) == (77, 5)


def test_a_put_describes_whether_the_identity_may_change(document: dict[str, Any]) -> None:
    assert document["paths"]["/ed-fi/classPeriods/{id}"]["put"]["x-Ed-Fi-isUpdatable"] is True
    assert "x-Ed-Fi-isUpdatable" not in document["paths"]["/ed-fi/students/{id}"]["put"]


def test_server_and_token_endpoint_have_absolute_urls() -> None:
    document = http().get("/metadata/specifications/resources-spec.json").json()

    assert document["servers"] == [{"url": "http://testserver/data"}]
    flow = document["components"]["securitySchemes"]["oauth2_client_credentials"]["flows"]["clientCredentials"]
    assert flow["tokenUrl"] == "http://testserver/oauth/token"
    assert document["security"] == [{"oauth2_client_credentials": []}]


def test_no_component_name_is_changed_by_a_conflict(surface: Surface) -> None:
    for build in (resources_document, descriptors_document):
        names = [name.removeprefix("trackedChanges_") for name in build(surface, ROOT)["components"]["schemas"]]
        assert [name for name in names if name.count("_") > 1] == []


def test_changes_are_described_with_the_key_values_of_their_resource(document: dict[str, Any]) -> None:
    schemas = document["components"]["schemas"]
    found = document["paths"]["/ed-fi/classPeriods/keyChanges"]["get"]

    content = found["responses"]["200"]["content"]["application/json"]["schema"]["items"]
    assert content == {"$ref": "#/components/schemas/trackedChanges_edFi_classPeriodKeyChange"}
    assert found["operationId"] == "keyChangesClassPeriods"
    change, key = schemas["trackedChanges_edFi_classPeriodKeyChange"], schemas["trackedChanges_edFi_classPeriodKey"]
    assert list(change["properties"]) == ["id", "changeVersion", "oldKeyValues", "newKeyValues"]
    assert {name: each["type"] for name, each in key["properties"].items()} == {
        "classPeriodName": "string",
        "schoolId": "integer",
    }


def test_a_shared_parameter_takes_precedence_over_a_field_of_the_same_name(surface_of: SurfaceOf) -> None:
    surface = surface_of("""
Domain Entity House
  integer Number is part of identity
  string Color is optional
""")

    document = resources_document(surface, ROOT)

    validate(document)
    houses, partitions = (document["paths"][f"/ed-fi/houses{suffix}"]["get"] for suffix in ("", "/partitions"))
    assert [each["name"] for each in houses["parameters"] if "name" in each] == ["id", "number", "color"]
    assert [each["name"] for each in partitions["parameters"] if "name" in each] == ["id", "color"]


def test_the_introduction_describes_calling_the_api(document: dict[str, Any], surface: Surface) -> None:
    introduction = document["info"]["description"]

    for heading in ("Authorize", "Write", "Page", "Read errors", "Follow changes"):
        assert f"\n## {heading}\n" in introduction
    assert descriptors_document(surface, ROOT)["info"]["description"].endswith(introduction.partition("\n\n")[2])


def test_members_of_the_server_are_read_only(document: dict[str, Any]) -> None:
    student, link = document["components"]["schemas"]["edFi_student"], document["components"]["schemas"]["link"]

    assert student["properties"]["_etag"]["readOnly"] is True
    assert student["properties"]["_lastModifiedDate"]["readOnly"] is True
    assert link["readOnly"] is True
    assert "readOnly" not in student["properties"]["id"]  # Part of the body of a PUT.


def test_descriptor_members_name_the_path_of_their_values(document: dict[str, Any]) -> None:
    schemas = document["components"]["schemas"]
    grade_level = schemas["edFi_schoolGradeLevel"]["properties"]["gradeLevelDescriptor"]
    in_key = schemas["edFi_programReference"]["properties"]["programTypeDescriptor"]

    assert grade_level["x-Ed-Fi-descriptor"] == "/ed-fi/gradeLevelDescriptors"
    assert grade_level["description"].endswith("One of /ed-fi/gradeLevelDescriptors.")
    assert in_key["x-Ed-Fi-descriptor"] == "/ed-fi/programTypeDescriptors"
    assert "x-Ed-Fi-descriptor" not in schemas["edFi_school"]["properties"]["nameOfInstitution"]
