"""Rules, runs and results as resources of Ed-Fi's extension `EdFiXValidations`: what clients of that extension find."""

import re
from collections.abc import Iterator
from importlib.util import find_spec, module_from_spec
from types import ModuleType
from typing import Any

import pytest
from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from django.test import override_settings
from django.urls import include, path
from jsonschema_rs import Draft202012Validator
from openapi_spec_validator import validate

from edfi_api.common.conf import api_settings
from edfi_api.core.served import current_compilation
from edfi_api.features.validation.extension_model import is_extension_served, published_surface, with_extension
from edfi_api.model.surface.resource import Surface
from edfi_api.web.metadata import urls as metadata
from tests.conftest import http
from tests.features.validation.api import client
from tests.features.validation.rules import EACH, write

DATA = "/data/ed-fi-x-validations"
NAMESPACE = "uri://edfixvalidation.org"
OWN = "/validation/v1"


@pytest.fixture(scope="session")
def _urls_of_a_server() -> ModuleType:
    """The URL map of a server with the setting."""
    spec = find_spec("meadowlark.urls")
    assert spec and spec.loader
    module = module_from_spec(spec)
    with override_settings(EDFI_API={**settings.EDFI_API, "VALIDATION_EXTENSION": True}):
        spec.loader.exec_module(module)
        published = include(metadata.metadata_routes(current_compilation(), api_settings.data_standard))
    module.urlpatterns = [
        path("", published) if getattr(each, "urlconf_name", None) is metadata else each for each in module.urlpatterns
    ]
    return module


@pytest.fixture(autouse=True)
def _served(_urls_of_a_server: ModuleType) -> Iterator[None]:
    configured = {**settings.EDFI_API, "VALIDATION_EXTENSION": True}
    with override_settings(ROOT_URLCONF=_urls_of_a_server, EDFI_API=configured):
        yield


@pytest.fixture(scope="session")
def extended(surface: Surface) -> Surface:
    return with_extension(surface)


@pytest.fixture(scope="session")
def openapi(extended: Surface) -> dict[str, Any]:
    return _of_the_extension(metadata.resources_document(extended, "http://testserver"))


def _of_the_extension(document: dict[str, Any]) -> dict[str, Any]:
    """The part of an OpenAPI document about the extension: validating all of it takes long."""
    own = {path: item for path, item in document["paths"].items() if path.startswith("/ed-fi-x-validations/")}
    schemas = document["components"]["schemas"]
    needed = {name for name in schemas if name.startswith(("edFiXValidations", "trackedChanges_edFiX", "p"))}
    needed |= {name for each in sorted(needed) for name in re.findall(r"schemas/(\w+)", str(schemas[each]))}
    components = {**document["components"], "schemas": {name: schemas[name] for name in sorted(needed)}}
    return {**document, "paths": own, "components": components}


def test_a_result_has_the_members_of_the_extension(rules, committing_api, enroll) -> None:
    document = enroll("A", 77).rpartition("/")[2]
    write(rules, "R-1", EACH)
    rules.run()
    [own] = committing_api.get(f"{OWN}/validationResults").json()
    [run] = committing_api.get(f"{OWN}/validationRuns").json()

    [result] = committing_api.get(f"{DATA}/validationResults").json()

    assert result == {
        "id": own["id"],
        "resultIdentifier": own["resultIdentifier"],
        "resourceType": "StudentSchoolAssociation",
        "validationRuleReference": {"ruleIdentifier": "R-1", "ruleSource": "tests"},
        "validationRunReference": {
            "runIdentifier": run["runIdentifier"],
            "host": "http://testserver",
            "ruleEngine": "Meadowlark",
        },
        "educationOrganizationReference": {"educationOrganizationId": 77},
        "resourceId": document,
        "studentReference": {"studentUniqueId": "A"},
        "additionalContexts": [{"identificationCode": "entryDate", "customizationValue": "2025-08-20"}],
        "_etag": own["_etag"],
        "_lastModifiedDate": own["_lastModifiedDate"],
    }
    assert committing_api.get(f"{DATA}/VALIDATIONRESULTS/{own['id']}/").json() == result


def test_answers_fit_the_schema_of_the_extension(rules, committing_api, enroll, extended) -> None:
    """Compiled from its MetaEd text, which allows no further members."""
    enroll("A", 77)
    write(rules, "R-1", EACH.replace("'entryDate'", "'blank', ' ', 'entryDate'", 1))
    rules.run()

    for resource in extended.resources:
        if not resource.is_read_only:
            continue
        items = committing_api.get(f"/data{resource.url_path}").json()
        validator = Draft202012Validator(resource.json_schema)
        for item in items:
            assert committing_api.get(f"/data{resource.url_path}/{item['id']}").json() == item
            members = {name: value for name, value in item.items() if name != "id" and name[0] != "_"}
            assert list(validator.iter_errors(members)) == []
        assert items, resource.url_path


def test_resolved_results_are_gone(rules, committing_api, enroll) -> None:
    enroll("A", 77)
    write(rules, "R-1", EACH)
    rules.run()
    [result] = committing_api.get(f"{DATA}/validationResults").json()

    write(rules, "R-1", f"{EACH} WHERE false")
    rules.run()

    assert committing_api.get(f"{DATA}/validationResults").json() == []
    assert committing_api.get(f"{DATA}/validationResults/{result['id']}").status_code == 404
    assert committing_api.get(f"{OWN}/validationResults/{result['id']}").status_code == 200


def test_a_client_sees_the_results_of_its_organizations(rules, enroll) -> None:
    enroll("A", 77)
    enroll("B", 88)
    write(rules, "R-1", EACH)
    rules.run()
    of_77, of_88 = client(77), client(88)

    answer = of_77.get(f"{DATA}/validationResults?totalCount=true")
    [hidden] = of_88.get(f"{DATA}/validationResults").json()

    assert [each["studentReference"] for each in answer.json()] == [{"studentUniqueId": "A"}]
    assert answer["Total-Count"] == "1"
    assert of_77.get(f"{DATA}/validationResults/{hidden['id']}").status_code == 404
    assert of_77.get(f"{DATA}/validationResults?studentUniqueId=B").json() == []
    assert client(77, claim_set="BootstrapDescriptorsandEdOrgs").get(f"{DATA}/validationResults").status_code == 403


def test_filters_and_pages(rules, committing_api, enroll, openapi) -> None:
    """Every parameter of the OpenAPI document selects what has the value, and nothing else."""
    enroll("A", 77)
    enroll("B", 77)
    write(rules, "R-1", EACH)
    write(rules, "R-2", EACH)
    rules.run()
    for endpoint in ("validationRules", "validationRuns", "validationResults"):
        parameters = openapi["paths"][f"/ed-fi-x-validations/{endpoint}"]["get"]["parameters"]
        items = committing_api.get(f"{DATA}/{endpoint}").json()
        for name in (each["name"] for each in parameters if "name" in each):
            values = {_flat(each).get(name) for each in items} - {None}
            for value in values:
                answer = committing_api.get(f"{DATA}/{endpoint}", QUERY_STRING=_query(name, value)).json()
                assert answer == [each for each in items if _flat(each).get(name) == value], (endpoint, name)
            absent = "2020-01-01T00:00:00Z" if name.endswith("DateTime") else "7"
            if name not in ("id", "resourceId"):
                assert committing_api.get(f"{DATA}/{endpoint}?{name}={absent}").json() == [], (endpoint, name)
    pages = [committing_api.get(f"{DATA}/validationResults?limit=3&offset={offset}").json() for offset in (0, 3)]
    assert pages[0] + pages[1] == committing_api.get(f"{DATA}/validationResults").json()
    assert committing_api.get(f"{DATA}/validationResults?totalCount=true&limit=0")["Total-Count"] == "4"


def _flat(item: dict[str, Any]) -> dict[str, Any]:
    """The members, with those of references."""
    found: dict[str, Any] = {}
    for name, value in item.items():
        found |= value if isinstance(value, dict) else {name: value}
    return found


def _query(name: str, value: Any) -> str:
    return f"{name}={str(value).replace('#', '%23').replace(' ', '%20').replace('+', '%2B')}"


def test_a_follower_ends_with_the_open_results(rules, committing_api, enroll) -> None:
    """It follows by the change versions of documents, which it also writes between the runs."""
    write(rules, "R-1", EACH)
    known: dict[str, Any] = {}
    version = 0
    paths: list[str] = []
    for step in range(5):
        paths.append(enroll(f"S{step}", 77))
        if step % 2:
            committing_api.delete(paths.pop(0))
        if step == 3:  # All results change.
            write(rules, "R-1", EACH.replace("'entryDate'", "'changed', '1', 'entryDate'", 1))
        rules.run()
        newest = committing_api.get("/changeQueries/v1/availableChangeVersions").json()["newestChangeVersion"]
        window = f"minChangeVersion={version + 1}&maxChangeVersion={newest}"
        known |= {each["id"]: each for each in committing_api.get(f"{DATA}/validationResults?{window}").json()}
        for each in committing_api.get(f"{DATA}/validationResults/deletes?{window}").json():
            known.pop(each["id"], None)
        assert committing_api.get(f"{DATA}/validationResults/keyChanges?{window}").json() == []
        version = newest

    assert len(known) == 3
    found = {each["id"]: each for each in committing_api.get(f"{DATA}/validationResults").json()}
    # The run is that which was published last for the rule, and moves no version.
    assert _without_runs(known) == _without_runs(found)


def _without_runs(found: dict[str, Any]) -> dict[str, Any]:
    return {name: {**each, "validationRunReference": None} for name, each in found.items()}


def test_deletes_are_resolved_results_of_the_organizations(rules, enroll, committing_api, openapi) -> None:
    for student, school in (("A", 77), ("B", 77), ("C", 88)):
        enroll(student, school)
    write(rules, "R-1", EACH)
    rules.run()
    first, second = client(77).get(f"{DATA}/validationResults").json()
    versions = {each["id"]: int(each["_etag"]) for each in (first, second)}
    write(rules, "R-1", f"{EACH} WHERE false")
    rules.run()

    answer = client(77).get(f"{DATA}/validationResults/deletes?totalCount=true")
    page = client(77).get(f"{DATA}/validationResults/deletes?offset=1&limit=1").json()

    assert answer["Total-Count"] == "2"
    assert "Next-Page-Token" not in answer
    deletes = answer.json()
    assert {each["id"] for each in deletes} == {first["id"], second["id"]}
    assert page == [deletes[1]]
    for each, result in zip(sorted(deletes, key=lambda each: versions[each["id"]]), (first, second), strict=True):
        assert each.pop("changeVersion") > versions[each["id"]]
        identity = {"resultIdentifier": result["resultIdentifier"], "resourceType": "StudentSchoolAssociation"}
        assert each == {"id": result["id"], "keyValues": identity}
    schema = openapi["components"]["schemas"]["trackedChanges_edFiXValidations_validationResultDelete"]
    assert set(schema["properties"]) == {"id", "changeVersion", "keyValues"}
    assert len(client(88).get(f"{DATA}/validationResults/deletes").json()) == 1
    assert client(99).get(f"{DATA}/validationResults/deletes").json() == []
    unauthorized = client(77, claim_set="BootstrapDescriptorsandEdOrgs")
    for tail in ("deletes", "keyChanges", "partitions"):
        assert unauthorized.get(f"{DATA}/validationResults/{tail}").status_code == 403


@pytest.mark.parametrize("endpoint", ["validationRules", "validationRuns", "severityDescriptors"])
def test_what_has_no_versions_is_in_every_window(rules, committing_api, enroll, endpoint: str) -> None:
    enroll("A", 77)
    write(rules, "R-1", EACH)
    rules.run()
    items = committing_api.get(f"{DATA}/{endpoint}").json()

    assert items
    assert committing_api.get(f"{DATA}/{endpoint}?minChangeVersion=5000&maxChangeVersion=6000").json() == items
    for tail in ("deletes", "keyChanges"):
        answer = committing_api.get(f"{DATA}/{endpoint}/{tail}?minChangeVersion=0&totalCount=true")
        assert (answer.json(), answer["Total-Count"]) == ([], "0")
        assert answer.content == b"[]"


def test_pages_by_token(rules, committing_api, enroll) -> None:
    """Every collection, also that of /validation/v1; a window with an upper bound is in the order of versions."""
    enroll("A", 77)
    enroll("B", 77)
    for name in ("R-1", "R-2", "R-3"):
        write(rules, name, EACH)
        rules.run()
    expected = {
        f"{DATA}/validationResults": [2, 2, 2, 0],
        f"{DATA}/validationResults?ruleIdentifier=R-1": [2, 0],
        f"{DATA}/validationRules": [2, 1, 0],
        f"{DATA}/validationRuns": [2, 1, 0],
        f"{DATA}/severityDescriptors": [2, 1, 0],
        f"{OWN}/validationResults?state=all": [2, 2, 2, 0],
        f"{OWN}/validationRules": [2, 1, 0],
        f"{OWN}/validationRuns": [2, 1, 0],
    }
    for address, sizes in expected.items():
        mark = "&" if "?" in address else "?"
        answer = committing_api.get(f"{address}{mark}limit=2&offset=0")
        pages = [answer.json()]
        while token := answer.get("Next-Page-Token"):
            answer = committing_api.get(f"{address}{mark}pageToken={token}&pageSize=2")
            pages.append(answer.json())

        assert [len(page) for page in pages] == sizes, address
        assert [each for page in pages for each in page] == committing_api.get(address).json()

    newest = committing_api.get("/changeQueries/v1/availableChangeVersions").json()["newestChangeVersion"]
    bounded = committing_api.get(f"{DATA}/validationResults?limit=2&maxChangeVersion={newest}")
    assert len(bounded.json()) == 2
    assert "Next-Page-Token" not in bounded
    token = committing_api.get(f"{DATA}/validationResults?limit=2")["Next-Page-Token"]
    tail = committing_api.get(f"{DATA}/validationResults?pageToken={token}&maxChangeVersion={newest}")
    assert tail.json() == committing_api.get(f"{DATA}/validationResults?offset=2").json()


def test_partitions(rules, committing_api, enroll, settings) -> None:
    """Each result is in one of them; results that the client does not see are in none."""
    settings.EDFI_API = {**settings.EDFI_API, "MAX_PAGE_SIZE": 2, "DEFAULT_PAGE_SIZE": 2}
    enroll("A", 77)
    enroll("B", 88)
    twelve = EACH.replace(" FROM ", ", each::text AS key FROM generate_series(1, 12) each, ", 1)
    write(rules, "R-1", twelve)
    rules.run()
    of_77 = client(77)

    parts = []
    for token in of_77.get(f"{DATA}/validationResults/partitions?number=9").json()["pageTokens"]:
        found: list[str] = []
        following: str | None = token
        while following:
            answer = of_77.get(f"{DATA}/validationResults?pageToken={following}&pageSize=2")
            found += [each["id"] for each in answer.json()]
            following = answer.get("Next-Page-Token")
        parts.append(found)

    assert [len(part) for part in parts] == [10, 2]
    assert len({each for part in parts for each in part}) == 12
    assert len(committing_api.get(f"{DATA}/validationResults/partitions").json()["pageTokens"]) == 3
    assert client(99).get(f"{DATA}/validationResults/partitions").json() == {"pageTokens": []}
    assert len(of_77.get(f"{DATA}/validationRules/partitions").json()["pageTokens"]) == 1
    assert len(of_77.get(f"{DATA}/severityDescriptors/partitions").json()["pageTokens"]) == 1


def test_descriptors(api) -> None:
    answer = api.get(f"{DATA}/severityDescriptors?totalCount=true")

    assert answer["Total-Count"] == "3"
    assert [(each["namespace"], each["codeValue"], each["shortDescription"]) for each in answer.json()] == [
        (f"{NAMESPACE}/SeverityDescriptor", code, code)
        for code in ("Warning", "Minor Validation Error", "Major Validation Error")
    ]
    codes = {
        name: {each["codeValue"] for each in api.get(f"{DATA}/{name}Descriptors").json()}
        for name in ("ruleStatus", "runStatus", "validationLogicType")
    }
    assert codes == {
        "ruleStatus": {"Active", "Inactive"},
        "runStatus": {"Running", "Completed", "Stopped"},
        "validationLogicType": {"SQL", "Python"},
    }
    [completed] = api.get(f"{DATA}/runStatusDescriptors?codeValue=Completed").json()
    assert api.get(f"{DATA}/runStatusDescriptors/{completed['id']}").json() == completed
    assert api.get(f"{DATA}/severityDescriptors/{completed['id']}").status_code == 404
    assert api.get(f"{DATA}/runStatusDescriptors?effectiveBeginDate=2020-01-01").json() == []


@pytest.mark.parametrize(
    ("path", "status", "message"),
    [
        ("validationResults?severityDescriptor=x", 400, "severityDescriptor"),
        ("validationResults?minChangeVersion=x", 400, "MinChangeVersion"),
        ("validationRules?minChangeVersion=4&maxChangeVersion=2", 400, "MinChangeVersion"),
        ("severityDescriptors?maxChangeVersion=-1", 400, "MaxChangeVersion"),
        ("validationResults?pageToken=x", 400, "page token"),
        ("validationResults?pageSize=1", 400, "PageToken is required"),
        ("validationResults?number=2", 400, "number"),
        ("validationResults/deletes?studentUniqueId=A", 400, "studentUniqueId"),
        ("validationRules/deletes?ruleIdentifier=A", 400, "ruleIdentifier"),
        ("validationRuns/keyChanges?limit=x", 400, "Limit"),
        ("validationResults/keyChanges?minChangeVersion=x", 400, "MinChangeVersion"),
        ("validationResults/partitions?number=0", 400, "Number of partitions"),
        ("severityDescriptors/partitions?limit=1", 400, "limit"),
        ("validationResults/partitions?state=all", 400, "state"),
        ("validationResults?state=all", 400, "state"),
        ("validationResults?educationOrganizationId=x", 400, "educationOrganizationId"),
        ("validationRuns?runStartDateTime=yesterday", 400, "runStartDateTime"),
        ("validationRuns?changeVersion=1", 400, "changeVersion"),
        ("severityDescriptors?effectiveEndDate=x", 400, "effectiveEndDate"),
        ("severityDescriptors?limit=-1", 400, "Limit"),
        ("validationResults/1", 400, "1"),
        ("validationRuleRuns", 404, ""),
        ("validationRules/00000000-0000-4000-8000-000000000000", 404, ""),
    ],
)
def test_bad_requests(api, path: str, status: int, message: str) -> None:
    answer = api.get(f"{DATA}/{path}")

    assert answer.status_code == status
    assert message in answer.content.decode()


def test_nothing_can_be_written(api, recorder, refused) -> None:
    """Refused writes are in the ledger, as those of other data routes."""
    some_id = "00000000-0000-4000-8000-000000000000"

    posted = api.post(f"{DATA}/validationResults", {})
    put = api.put(f"{DATA}/severityDescriptors/{some_id}", {})
    deleted = api.delete(f"{DATA}/validationRuns/{some_id}")

    assert [(each.status_code, each["Allow"]) for each in (posted, put, deleted)] == [(405, "GET, HEAD")] * 3
    assert [(each.resource, each.operation, each.status) for each in refused()] == [
        ("/ed-fi-x-validations/validationResults", "upsert", 405),
        ("/ed-fi-x-validations/severityDescriptors", "update", 405),
        ("/ed-fi-x-validations/validationRuns", "delete", 405),
    ]


def test_the_openapi_documents(extended, openapi) -> None:
    descriptors = _of_the_extension(metadata.descriptors_document(extended, "http://testserver"))

    validate(openapi)
    validate(descriptors)
    assert set(openapi["paths"]) == {
        f"/ed-fi-x-validations/{name}{tail}"
        for name in ("validationRules", "validationRuns", "validationResults")
        for tail in ("", "/{id}", "/deletes", "/keyChanges", "/partitions")
    }
    assert all(list(item) == ["get"] for item in openapi["paths"].values())
    assert set(openapi["components"]["schemas"]["edFiXValidations_validationResult"]["properties"]) == {
        "id", "resultIdentifier", "resourceType", "validationRuleReference", "validationRunReference",
        "educationOrganizationReference", "resourceId", "studentReference", "staffReference", "namespace",
        "additionalContexts", "_etag", "_lastModifiedDate",
    }  # fmt: skip
    assert "/ed-fi-x-validations/severityDescriptors" in descriptors["paths"]
    tracked = openapi["components"]["schemas"]["trackedChanges_edFiXValidations_validationResultKey"]
    assert set(tracked["properties"]) == {"resultIdentifier", "resourceType"}
    shared = [each["$ref"].rpartition("/")[2] for each in _parameters(openapi, "") if "$ref" in each]
    assert shared == [
        "offset", "limit", "pageToken", "pageSize", "totalCount", "MinChangeVersion", "MaxChangeVersion",
    ]  # fmt: skip
    parted = [each["$ref"].rpartition("/")[2] for each in _parameters(openapi, "/partitions") if "$ref" in each]
    assert parted == ["number", "MinChangeVersion", "MaxChangeVersion"]


def _parameters(openapi: dict[str, Any], tail: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = openapi["paths"][f"/ed-fi-x-validations/validationResults{tail}"]["get"]["parameters"]
    return found


def test_metadata_of_a_server(db) -> None:
    steps = {each["resource"]: each for each in http().get("/metadata/dependencies").json()}
    listed = http().get("/").json()["dataModels"]

    assert steps["/ed-fi-x-validations/validationResults"]["operations"] == []
    assert steps["/ed-fi-x-validations/validationResults"]["order"] > steps["/ed-fi/schools"]["order"]
    assert steps["/ed-fi/schools"]["operations"] == ["Create", "Update"]
    assert [each["name"] for each in listed] == ["Ed-Fi", "EdFiXValidations"]


def test_only_with_the_setting_and_without_a_project_of_that_name(surface, extended, settings) -> None:
    assert is_extension_served(surface)
    assert not is_extension_served(extended)
    settings.EDFI_API = {**settings.EDFI_API, "VALIDATION_EXTENSION": False}
    assert published_surface(surface) is surface


def test_a_standard_without_text_is_reported(surface, settings, tmp_path) -> None:
    settings.EDFI_API = {**settings.EDFI_API, "DATA_STANDARD": str(tmp_path / "standard.json")}
    (tmp_path / "standard.json").touch()

    with pytest.raises(ImproperlyConfigured, match="MEADOWLARK_VALIDATION_EXTENSION needs a data standard in MetaEd"):
        with_extension(surface)
