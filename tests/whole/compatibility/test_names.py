"""With `MEADOWLARK_COMPATIBILITY=ods` members and endpoints have the names that the ODS/API forms; what is stored has
those of Ed-Fi's compiler, so that the setting can be changed at any time."""

import json
from collections.abc import Iterator
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command

from edfi_api.core.models import Document
from edfi_api.core.security.profiles.loading import read_definitions, store_profiles
from edfi_api.features.loading.management.commands import load_documents
from tests.conftest import ApiTestClient, http, item_path, new_token
from tests.core.security.profiles.definitions import profile_xml
from tests.support.databases import rolled_back
from tests.support.serving import SHIPYARD, like_the_ods
from tests.web.batch.batch_client import BatchClient

pytestmark = pytest.mark.django_db

DATA = "/data/shipyard"
SCHEMA = b' name="BoatDock" logicalSchema="Shipyard"'
NINTH_GRADE = "uri://ed-fi.org/GradeLevelDescriptor#Ninth grade"
FALL = "uri://ed-fi.org/TermDescriptor#Fall Semester"
DOCK = {
    "ferryBoatReference": {"boatCode": "Swan"},
    "dockNumber": 7,
    "tankInformation": [{"tankName": "Bow", "tankerBoatReference": {"boatCode": "Gull"}}],
    "healths": [{"checkDate": "2026-03-01"}],
    "oldNicknames": [{"nickname": "Duck"}],
    "criteria": [{"criteria": "2026-03-02"}],
    "gradeLevelDescriptor": NINTH_GRADE,
    "defTermDescriptor": FALL,
    "exitSchoolYearTypeReference": {"schoolYear": 2026},
}
STORED_DOCK = {
    "ferryBoatBoatReference": {"boatCode": "Swan"},
    "dockNumber": 7,
    "tankInformations": [{"tankName": "Bow", "tankerBoatBoatReference": {"boatCode": "Gull"}}],
    "health": [{"checkDate": "2026-03-01"}],
    "oldNicknames": [{"oldNickname": "Duck"}],
    "criteria": [{"criterion": "2026-03-02"}],
    "gradeGradeLevelDescriptor": NINTH_GRADE,
    "defaultTermDescriptor": FALL,
    "exitSchoolYearSchoolYearTypeReference": {"schoolYear": 2026},
}
ORDER = {
    "orderNumber": 1,
    "boatDockReference": {"dockNumber": 7, "ferryBoatCode": "Swan"},
    "parts": [{"partName": "Keel"}],
    "tugBoatBoats": [{"tugBoatReference": {"boatCode": "Gull"}}],
}
STORED_ORDER = {
    "orderNumber": 1,
    "boatDockReference": {"dockNumber": 7, "ferryBoatBoatCode": "Swan"},
    "repairOrderParts": [{"partName": "Keel"}],
    "tugBoatBoats": [{"tugBoatBoatReference": {"boatCode": "Gull"}}],
}


@pytest.fixture(scope="module")
def shipyard(django_db_setup: None, django_db_blocker: Any) -> Iterator[ApiTestClient]:
    """A client of the extension as with the setting, and what docks refer to."""
    with django_db_blocker.unblock(), rolled_back(), like_the_ods(SHIPYARD):
        api = ApiTestClient(new_token("names", "FullAccess"))
        for type_, code in (("GradeLevelDescriptor", "Ninth grade"), ("TermDescriptor", "Fall Semester")):
            body = {"namespace": f"uri://ed-fi.org/{type_}", "codeValue": code, "shortDescription": code}
            assert api.post(f"/{type_[0].lower()}{type_[1:]}s", body).status_code == 201
        year = {"schoolYear": 2026, "currentSchoolYear": True, "schoolYearDescription": "2025-2026"}
        assert api.post("/schoolYearTypes", year).status_code == 201
        for code in ("Swan", "Gull"):
            assert api.post(f"{DATA}/boats", {"boatCode": code}).status_code == 201
        yield api


@pytest.fixture
def api(shipyard: ApiTestClient) -> Iterator[ApiTestClient]:
    with rolled_back():
        yield shipyard


def stored(resource: str) -> Any:
    [body] = Document.objects.filter(resource_type__name=resource).values_list("body", flat=True)
    return body


def without_server_members(value: Any) -> Any:
    """Without what an answer has beside what was sent: links, ids, tags, and empty collections."""
    if isinstance(value, dict):
        members = {name: without_server_members(child) for name, child in value.items()}
        added = ("id", "link", "_etag", "_lastModifiedDate")
        return {name: child for name, child in members.items() if name not in added and child != []}
    return [without_server_members(item) for item in value] if isinstance(value, list) else value


def test_what_is_written_under_the_names_of_the_ods_is_stored_under_those_of_the_compiler(api: ApiTestClient) -> None:
    created = api.post(f"{DATA}/boatDocks", DOCK, HTTP_PREFER="handling=strict")

    assert created.status_code == 201, created.content
    assert stored("BoatDock") == STORED_DOCK
    read = api.get(item_path(created)).json()
    assert without_server_members(read) == DOCK
    assert read["ferryBoatReference"]["link"]["rel"] == "Boat"
    assert read.keys().isdisjoint({"ferryBoatBoatReference", "tankInformations", "health"})


def test_what_was_read_can_be_written_back(api: ApiTestClient) -> None:
    path = item_path(api.post(f"{DATA}/boatDocks", DOCK))
    read = api.get(path).json()

    assert api.put(path, read | {"healths": [{"checkDate": "2026-04-01"}]}).status_code == 204
    assert stored("BoatDock") == STORED_DOCK | {"health": [{"checkDate": "2026-04-01"}]}


def test_the_names_of_the_compiler_are_read_too_but_not_beside_the_others(api: ApiTestClient) -> None:
    assert api.post(f"{DATA}/boatDocks", STORED_DOCK).status_code == 201
    assert stored("BoatDock") == STORED_DOCK

    both = api.post(f"{DATA}/boatDocks", DOCK | {"health": [{"checkDate": "2026-05-01"}]})

    assert both.status_code == 400
    assert both.json()["validationErrors"] == {
        "$.health": ["Health and healths are two spellings of one member; only one of them can be sent."]
    }


def test_names_in_any_case_are_read(api: ApiTestClient) -> None:
    body = {name[0].upper() + name[1:]: value for name, value in DOCK.items()}

    assert api.post(f"{DATA}/boatDocks", body).status_code == 201
    assert stored("BoatDock") == STORED_DOCK


def test_keys_of_references_have_the_names_of_the_columns(api: ApiTestClient) -> None:
    api.post(f"{DATA}/boatDocks", DOCK)

    created = api.post(f"{DATA}/boatRepairOrders", ORDER)

    assert created.status_code == 201, created.content
    assert stored("BoatRepairOrder") == STORED_ORDER
    assert without_server_members(api.get(item_path(created)).json()) == ORDER


def test_additions_have_them_too(api: ApiTestClient) -> None:
    categories = "educationOrganizationCategory"
    for type_ in ("EducationOrganizationCategory",):
        body = {"namespace": f"uri://ed-fi.org/{type_}Descriptor", "codeValue": "School", "shortDescription": "School"}
        api.post(f"/{categories}Descriptors", body)
    school = {
        "schoolId": 5,
        "nameOfInstitution": "Lakeside",
        "educationOrganizationCategories": [
            {f"{categories}Descriptor": "uri://ed-fi.org/EducationOrganizationCategoryDescriptor#School"}
        ],
        "gradeLevels": [{"gradeLevelDescriptor": NINTH_GRADE}],
        "_ext": {"shipyard": {"schoolBoatReference": {"boatCode": "Swan"}}},
    }

    created = api.post("/schools", school)

    assert created.status_code == 201, created.content
    assert stored("School")["_ext"] == {"shipyard": {"schoolBoatBoatReference": {"boatCode": "Swan"}}}
    assert without_server_members(api.get(item_path(created)).json()) == school


def test_problems_and_hints_name_members_as_clients_do(api: ApiTestClient) -> None:
    tanks = [{"tankName": "Bow"}, {"tankName": "Bow"}]

    missing = api.post(f"{DATA}/boatRepairOrders", {"orderNumber": 1, "boatDockReference": {"dockNumber": 7}})
    unread = api.post(f"{DATA}/boatDocks", DOCK | {"healths": [{"checkDate": "soon"}]})
    twice = api.post(f"{DATA}/boatDocks", DOCK | {"tankInformation": tanks})
    unknown = api.post(
        f"{DATA}/boatDocks", DOCK | {"gradeLevelDescriptor": "uri://ed-fi.org/GradeLevelDescriptor#Tenth grade"}
    )
    absent = api.post(f"{DATA}/boatDocks", {"dockNumber": 7})

    assert missing.json()["validationErrors"] == {
        "$.boatDockReference": ["BoatDockReference is missing the following properties: FerryBoatCode"]
    }
    assert unread.json()["validationErrors"] == {"$.healths[0].checkDate": ["The supplied value is invalid."]}
    assert unread.json()["hints"][0].startswith('$.healths[0].checkDate: "soon" was sent.')
    assert list(twice.json()["validationErrors"]) == ["$.tankInformation"]
    assert list(unknown.json()["validationErrors"]) == ["$.gradeLevelDescriptor"]
    assert absent.json()["validationErrors"] == {"$.ferryBoatReference": ["FerryBoatReference is required."]}


def test_what_is_tolerated_is_listed_under_the_names_of_clients(api: ApiTestClient) -> None:
    body = DOCK | {"tankInformation": [{"tankName": "Bow", "colour": "blue"}]}

    created = api.post(f"{DATA}/boatDocks", body)

    assert created["Lenient-Handling"] == '"$.tankInformation[0].colour";reason=unknown-member'


def test_filters_and_fields(api: ApiTestClient) -> None:
    api.post(f"{DATA}/boatDocks", DOCK)

    found = api.get(f"{DATA}/boatDocks?ferryBoatCode=Swan&fields=healths,tankInformations").json()
    others = api.get(f"{DATA}/boatDocks?ferryBoatCode=Gull").json()
    refused = api.get(f"{DATA}/boatDocks?tankInformation=Bow")

    assert [without_server_members(each) for each in found] == [
        {name: DOCK[name] for name in ("ferryBoatReference", "dockNumber", "tankInformation", "healths")}
    ]
    assert others == []
    assert refused.status_code == 400


def test_an_endpoint_has_the_plural_of_the_ods_and_is_found_under_the_other_one(api: ApiTestClient) -> None:
    created = api.post(f"{DATA}/liftingEquipment", {"equipmentCode": "Crane"})

    assert created.status_code == 201
    assert "/data/shipyard/liftingEquipment/" in created["Location"]
    assert [each["equipmentCode"] for each in api.get(f"{DATA}/liftingEquipments").json()] == ["Crane"]
    dependencies = http().get("/metadata/data/v3/dependencies").json()
    assert "/shipyard/liftingEquipment" in {each["resource"] for each in dependencies}


def test_batches_have_them_in_documents_and_natural_keys(api: ApiTestClient) -> None:
    operations = [
        {"op": "upsert", "resource": "/shipyard/boatDocks", "document": DOCK},
        {"op": "upsert", "resource": "/shipyard/boatRepairOrders", "document": ORDER},
        {"op": "upsert", "resource": "/shipyard/boatDocks", "document": DOCK | {"healths": [{"checkDate": "x"}]}},
        {
            "op": "delete",
            "resource": "/shipyard/boatRepairOrders",
            "naturalKey": {"orderNumber": 1, "ferryBoatCode": "Swan", "dockNumber": 7},
        },
        {
            "op": "delete",
            "resource": "/shipyard/boatDocks",
            "naturalKey": {"ferryBoatReference": {"boatCode": "Swan"}, "dockNumber": 7},
        },
    ]

    results = BatchClient(api.token).independent(*operations)

    assert [each["status"] for each in results] == [201, 201, 400, 204, 204]
    assert list(results[2]["problem"]["validationErrors"]) == ["$.healths[0].checkDate"]
    assert [len(each["id"]) for each in results if "id" in each] == [32, 32, 32, 32]
    assert results[0]["location"].endswith(f"/data/shipyard/boatDocks/{results[0]['id']}")


def test_profiles_are_written_with_either_name(api: ApiTestClient) -> None:
    rules = (
        'IncludeOnly: <Property name="FerryBoatReference"/><Property name="health"/>'
        '<Collection name="TankInformation" memberSelection="IncludeOnly"><Property name="tankName"/></Collection>'
    )
    definitions = read_definitions(profile_xml("BoatDock", rules, name="Docks").replace(b' name="BoatDock"', SCHEMA))
    store_profiles(definitions, by="tests")
    created = api.post(f"{DATA}/boatDocks", DOCK)
    accept = "application/vnd.ed-fi.boatdock.docks.readable+json"

    shown = api.get(item_path(created), HTTP_ACCEPT=accept).json()

    assert without_server_members(shown) == {
        "ferryBoatReference": {"boatCode": "Swan"},
        "dockNumber": 7,
        "healths": [{"checkDate": "2026-03-01"}],
        "tankInformation": [{"tankName": "Bow"}],
    }
    document = http().get("/metadata/specifications/profiles/Docks/resources-spec.json").json()
    readable = document["components"]["schemas"]["shipyard_boatDock_readable"]["properties"]
    assert {"ferryBoatReference", "healths", "tankInformation"} < readable.keys()


def test_the_versions_of_a_document_and_what_is_related_to_it(api: ApiTestClient) -> None:
    path = item_path(api.post(f"{DATA}/boatDocks", DOCK))
    api.post(f"{DATA}/boatDocks", DOCK | {"healths": [{"checkDate": "2026-04-01"}]})
    id_, boat = path.rpartition("/")[2], api.get(f"{DATA}/boats?boatCode=Swan").json()[0]["id"]

    [newer, older] = api.get(f"/history/v1/shipyard/boatDocks/{id_}").json()
    [related] = api.get(f"/relations/v1/shipyard/boats/{boat}?include=body").json()

    assert without_server_members(older["body"]) == DOCK
    assert [each["path"] for each in newer["changes"]] == ["$.healths[0].checkDate"]
    assert related["id"] == id_
    assert without_server_members(related["body"])["healths"] == [{"checkDate": "2026-04-01"}]


def test_changes_of_keys_have_the_names_of_query_fields(api: ApiTestClient) -> None:
    path = item_path(api.post(f"{DATA}/boatDocks", DOCK))
    read = api.get(path).json()
    assert api.put(path, read | {"ferryBoatReference": {"boatCode": "Gull"}}).status_code == 204

    [change] = api.get(f"{DATA}/boatDocks/keyChanges").json()

    assert change["oldKeyValues"] == {"dockNumber": 7, "ferryBoatCode": "Swan"}
    assert change["newKeyValues"] == {"dockNumber": 7, "ferryBoatCode": "Gull"}


def test_the_openapi_document(api: ApiTestClient) -> None:
    document = http().get("/metadata/data/v3/resources/swagger.json").json()

    schemas = document["components"]["schemas"]
    dock = schemas["shipyard_boatDock"]
    assert {*DOCK, "id", "_etag", "_lastModifiedDate"} == dock["properties"].keys()
    assert dock["required"] == ["dockNumber", "ferryBoatReference"]
    assert dock["properties"]["ferryBoatReference"]["$ref"].endswith("/shipyard_boatReference")
    assert {"dockNumber", "ferryBoatCode", "link"} == schemas["shipyard_boatDockReference"]["properties"].keys()
    assert {"nickname"} == schemas["shipyard_boatDockOldNickname"]["properties"].keys()
    example = document["paths"]["/shipyard/boatDocks"]["post"]["requestBody"]["content"]["application/json"]["example"]
    assert "ferryBoatReference" in example
    assert {"/shipyard/liftingEquipment", "/shipyard/liftingEquipment/{id}"} <= document["paths"].keys()


def test_files_are_read_with_them(api: ApiTestClient, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with like_the_ods(SHIPYARD) as ods:
        monkeypatch.setattr(load_documents, "current_surface", lambda: ods.surface)
    lines, rows = tmp_path / "shipyard.boatDocks.jsonl", tmp_path / "shipyard.liftingEquipment.csv"
    lines.write_text(json.dumps(DOCK) + "\n" + json.dumps(DOCK | {"healths": [{"checkDate": "x"}]}) + "\n")
    rows.write_text("equipmentCode\nCrane\n")
    orders = tmp_path / "shipyard.boatRepairOrders.csv"
    columns = "orderNumber,boatDockReference.dockNumber,boatDockReference.ferryBoatCode,parts[0].partName"
    orders.write_text(f"{columns}\n1,7,Swan,Keel\n2,8,Swan,\n")
    errors = StringIO()

    call_command("load_documents", str(tmp_path), processes=1, stderr=errors)

    assert stored("BoatDock") == STORED_DOCK
    assert stored("BoatRepairOrder") == {name: STORED_ORDER[name] for name in STORED_ORDER if name != "tugBoatBoats"}
    assert stored("LiftingEquipment") == {"equipmentCode": "Crane"}
    assert "$.healths[0].checkDate: checkDate should be of type date." in errors.getvalue()
    assert "$.boatDockReference: The referenced BoatDock item does not exist." in errors.getvalue()
