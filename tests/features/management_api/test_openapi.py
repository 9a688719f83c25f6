"""The OpenAPI document: every operation in it exists, and it has all that Admin API 2 has."""

import re
from collections.abc import Callable

import jsonschema_rs
import pytest
from django.urls import Resolver404, resolve

from edfi_api.core.security.models import ClaimSet, Vendor
from tests.features.management_api.managing import VENDOR, Managing, created_id
from tests.support.offered_requests import offered_lists

# Paths and methods of Admin API 2.3.
ADMIN_API = {
    "/v2/tenants": "get",
    "/v2/tenants/{}": "get",
    "/v2/resourceClaims": "get",
    "/v2/resourceClaims/{}": "get",
    "/v2/resourceClaimActions": "get",
    "/v2/resourceClaimActionAuthStrategies": "get",
    "/v2/vendors": "get post",
    "/v2/vendors/{}": "get put delete",
    "/v2/vendors/{}/applications": "get",
    "/v2/profiles": "get post",
    "/v2/profiles/{}": "get put delete",
    "/v2/odsInstances": "get post",
    "/v2/odsInstances/{}": "get put delete",
    "/v2/odsInstances/{}/applications": "get",
    "/v2/odsInstanceDerivatives": "get post",
    "/v2/odsInstanceDerivatives/{}": "get put delete",
    "/v2/odsInstanceContexts": "get post",
    "/v2/odsInstanceContexts/{}": "get put delete",
    "/v2/claimSets": "get post",
    "/v2/claimSets/{}": "get put delete",
    "/v2/claimSets/{}/export": "get",
    "/v2/claimSets/copy": "post",
    "/v2/claimSets/import": "post",
    "/v2/claimSets/{}/resourceClaimActions": "post",
    "/v2/claimSets/{}/resourceClaimActions/{}": "put delete",
    "/v2/claimSets/{}/resourceClaimActions/{}/overrideAuthorizationStrategy": "post",
    "/v2/claimSets/{}/resourceClaimActions/{}/resetAuthorizationStrategies": "post",
    "/v2/applications": "get post",
    "/v2/applications/{}": "get put delete",
    "/v2/applications/{}/reset-credential": "put",
    "/v2/apiclients": "get post",
    "/v2/apiclients/{}": "get put delete",
    "/v2/apiclients/{}/reset-credential": "put",
    "/v2/authorizationStrategies": "get",
    "/v2/actions": "get",
}


@pytest.fixture
def document(anonymous: Managing) -> dict:
    return anonymous.get("/metadata/specifications").json()


def _blank(path: str) -> str:
    return "/".join("{}" if part.startswith("{") else part for part in path.split("/"))


def test_the_document_describes_itself(document: dict) -> None:
    assert document["openapi"] == "3.0.3"
    assert document["info"]["title"] == "Ed-Fi API Configuration Service API"
    assert document["servers"] == [{"url": "http://testserver/config"}]
    flow = document["components"]["securitySchemes"]["oauth2_client_credentials"]["flows"]["clientCredentials"]
    assert flow["tokenUrl"] == "http://testserver/config/connect/token"
    assert len(flow["scopes"]) == 3
    assert set(document["components"]["parameters"]) == {"id", "offset", "limit", "orderBy", "direction"}


def test_admin_api_is_whole_with_tenants(anonymous: Managing, configured: Callable[..., None]) -> None:
    configured(MULTI_TENANCY=True)

    document = anonymous.get("/metadata/specifications").json()

    found = {_blank(path): " ".join(methods) for path, methods in document["paths"].items()}

    assert {path: methods for path, methods in ADMIN_API.items() if found.get(path) != methods} == {}


def test_every_operation_is_answered_as_the_document_says(management: Managing, document: dict) -> None:
    """Without a body, and with an id that no item has."""
    management_statuses = {}
    for path, operations in document["paths"].items():
        for method, operation in operations.items():
            url = "/".join("99999" if part.startswith("{") else part for part in path.split("/"))
            answer = management.request(method, url)
            if str(answer.status_code) not in operation["responses"] or (
                answer.status_code == 404 and answer.json().get("detail", "").startswith("The requested resource")
            ):
                management_statuses[f"{method} {path}"] = answer.status_code
            _no_dangling_references(operation, document)

    assert management_statuses == {}


def test_addresses_of_a_setting_are_described_with_it(
    anonymous: Managing, document: dict, configured: Callable[..., None]
) -> None:
    configured(CLAIMS_UPLOAD=True, MULTI_TENANCY=True)

    added = anonymous.get("/metadata/specifications").json()["paths"].keys() - document["paths"].keys()

    assert added == {
        "/management/current-claims",
        "/management/reload-claims",
        "/management/upload-claims",
        "/v2/tenants",
        "/v2/tenants/{name}",
        "/v3/tenants",
        "/v3/tenants/{id}",
    }


def _no_dangling_references(node: object, document: dict) -> None:
    if isinstance(node, list):
        for each in node:
            _no_dangling_references(each, document)
    if isinstance(node, dict):
        for key, value in node.items():
            if key == "$ref":
                section, name = value.removeprefix("#/components/").split("/", 1)
                assert name in document["components"][section]
            else:
                _no_dangling_references(value, document)


def test_rules_are_in_the_schemas(document: dict) -> None:
    vendor = document["components"]["schemas"]["v3VendorsCreate"]["properties"]

    assert vendor["company"] == {"type": "string", "nullable": True, "minLength": 1, "maxLength": 256}
    assert vendor["contactEmailAddress"]["format"] == "email"


@pytest.mark.parametrize("path", ["/v2/vendors", "/v3/vendors", "/v2/claimSets", "/v3/claimSets"])
def test_items_that_commands_have_made_are_as_the_document_says(
    management: Managing, document: dict, path: str
) -> None:
    """Commands have fewer rules than requests."""
    Vendor.objects.create(name="Made by a command")
    ClaimSet.objects.create(name="x" * 256)
    answered = document["paths"][path]["get"]["responses"]["200"]["content"]["application/json"]["schema"]

    items = management.get(f"{path}?limit=500").json()

    assert items
    assert _faults(document, answered, items) == []


def _faults(document: dict, schema: dict, answer: object) -> list[str]:
    """What in an answer differs from the document."""
    whole = _as_json_schema({**document, **schema})
    validator = jsonschema_rs.Draft202012Validator(whole, validate_formats=True)
    return [error.message for error in validator.iter_errors(answer)]


def _as_json_schema(value: object) -> object:
    """`nullable` of OpenAPI 3.0 in the words of JSON schema."""
    if isinstance(value, list):
        return [_as_json_schema(each) for each in value]
    if not isinstance(value, dict):
        return value
    found = {name: _as_json_schema(each) for name, each in value.items()}
    return found | {"type": [found["type"], "null"]} if found.get("nullable") and "type" in found else found


def test_names_are_those_of_methods_and_types_in_any_language(document: dict) -> None:
    """Generators make methods of operations and types of components."""
    operations = [each for operations in document["paths"].values() for each in operations.values()]
    names = [each["operationId"] for each in operations]

    assert len(set(names)) == len(names)
    components = [name for each in document["components"].values() for name in each]
    assert [name for name in (*names, *components) if not re.fullmatch(r"[A-Za-z]\w*", name)] == []
    assert document["paths"]["/v3/claimSets/{id}/export"]["get"]["operationId"] == "getV3ClaimSetsByIdExport"


def test_required_members_are_described(document: dict) -> None:
    for schema in document["components"]["schemas"].values():
        assert set(schema.get("required", [])) <= schema["properties"].keys()


def test_parameters_of_an_operation_have_names_of_their_own(document: dict) -> None:
    parameters = document["components"]["parameters"]

    for operations in document["paths"].values():
        for operation in operations.values():
            found = [
                parameters[each["$ref"].rpartition("/")[2]]["name"] if "$ref" in each else each["name"]
                for each in operation["parameters"]
            ]
            assert len(set(found)) == len(found)


def test_bodies_of_answers_are_described(management: Managing, document: dict) -> None:
    """Of lists, of what was created with a secret, and of what was done to claims."""
    vendor = created_id(management.post("/v3/vendors", VENDOR))
    store = created_id(management.post("/v3/dataStores", {"name": "s", "dataStoreType": "t", "connectionString": ""}))
    application = {
        "applicationName": "Roster",
        "vendorId": vendor,
        "claimSetName": "EdFiSandbox",
        "educationOrganizationIds": [255901],
    }
    made = management.post("/v3/applications", application)
    answers = {
        ("post", "/v3/applications"): made,
        ("put", "/v3/applications/{id}/reset-credential"): management.put(
            f"/v3/applications/{created_id(made)}/reset-credential", {}
        ),
        ("get", "/v3/dataStores/{id}/status"): management.get(f"/v3/dataStores/{store}/status"),
        ("get", "/v3/vendors/{id}/applications"): management.get(f"/v3/vendors/{vendor}/applications"),
        ("get", "/v2/vendors/{id}/applications"): management.get(f"/v2/vendors/{vendor}/applications"),
        **{
            ("get", path): management.get(path)
            for version in ("v2", "v3")
            for path in (
                f"/{version}/resourceClaims",
                f"/{version}/resourceClaimActions",
                f"/{version}/resourceClaimActionAuthStrategies",
                f"/{version}/actions",
                f"/{version}/authorizationStrategies",
            )
        },
        ("get", "/v3/authorizationMetadata"): management.get("/v3/authorizationMetadata"),
        ("post", "/v2/vendors"): management.post("/v2/vendors", VENDOR | {"company": "Another"}),
        ("delete", "/v2/vendors/{id}"): management.delete(f"/v2/vendors/{vendor}"),
    }

    assert [key for key, answer in answers.items() if answer.status_code not in (200, 201)] == []
    for (method, path), answer in answers.items():
        described = document["paths"][path][method]["responses"][str(answer.status_code)]
        content = described.get("content", {}).get("application/json")
        assert bool(content) is bool(answer.content), (method, path)
        if content:
            assert _faults(document, content["schema"], answer.json()) == [], (method, path)
        if answer.status_code == 201:
            assert "Location" in described["headers"]


def test_a_company_that_exists_is_answered_as_the_document_says(management: Managing, document: dict) -> None:
    statuses = [management.post("/v3/vendors", VENDOR).status_code for _ in range(2)]

    assert statuses == [201, 200]
    for version in ("v2", "v3"):
        assert {"200", "201"} < document["paths"][f"/{version}/vendors"]["post"]["responses"].keys()
        assert "200" not in document["paths"][f"/{version}/applications"]["post"]["responses"]


def test_no_address_is_served_without_the_setting() -> None:
    with pytest.raises(Resolver404):
        resolve("/config/metadata/specifications")


def test_every_list_is_answered_as_the_document_offers_it(document: dict, management: Managing) -> None:
    lists = [address.removeprefix(management.base) for address in offered_lists(document)]

    refused = {address: each.content for address in lists if (each := management.get(address)).status_code != 200}

    assert refused == {}
    assert {"/v2/vendors?", "/v3/vendors?"} <= set(lists)
