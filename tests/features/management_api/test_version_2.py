"""`/v2`: the same rows in the shapes of Admin API 2."""

from typing import Any

import pytest

from edfi_api.core.security.models import ClaimSet, ResourceClaim
from tests.features.management_api.managing import PROFILE_XML, VENDOR, Managing, created_id

INSTANCE = {"name": "2027", "instanceType": "Production", "connectionString": "host=db7 dbname=lakeside"}


@pytest.fixture
def instance(management: Managing) -> int:
    return created_id(management.post("/v2/odsInstances", INSTANCE))


@pytest.fixture
def body(vendor: int, instance: int) -> dict[str, Any]:
    return {
        "applicationName": "Roster",
        "vendorId": vendor,
        "claimSetName": "EdFiSandbox",
        "educationOrganizationIds": [255901],
        "odsInstanceIds": [instance],
        "enabled": False,
    }


def test_vendors(management: Managing) -> None:
    made = management.post("/v2/vendors", VENDOR | {"namespacePrefixes": ""})
    id_ = created_id(made)
    again = management.post("/v2/vendors", VENDOR)
    changed = management.put(f"/v2/vendors/{id_}", VENDOR | {"company": "Other"})
    long = management.put(f"/v2/vendors/{id_}", VENDOR | {"namespacePrefixes": "x" * 129})
    removed = management.delete(f"/v2/vendors/{id_}")
    gone = management.get(f"/v2/vendors/{id_}")

    assert made.headers["Location"] == f"http://testserver/config/v2/vendors/{id_}"
    assert (again.status_code, again.json()) == (
        400,
        {
            "title": "Validation failed",
            "errors": {"Company": ["A vendor name already exists in the database. Please enter a unique name."]},
        },
    )
    assert (changed.status_code, changed.content) == (200, b"")
    assert long.json()["errors"] == {"NamespacePrefixes": [f"'{'x' * 129}' exceeds maximum length"]}
    assert (removed.status_code, removed.json()) == (200, {"title": "Vendor deleted successfully"})
    assert (gone.status_code, gone.json()) == (
        404,
        {"title": f"Not found: vendor with ID {id_}. It may have been recently deleted."},
    )


def test_lists_have_25_items_without_a_limit(management: Managing) -> None:
    for number in range(26):
        management.post("/v2/vendors", VENDOR | {"company": f"v{number}"})

    assert len(management.get("/v2/vendors").json()) == 25
    assert len(management.get("/v2/vendors?limit=26").json()) == 26
    assert len(management.get("/v3/vendors").json()) == 26


def test_errors_have_their_own_form(management: Managing) -> None:
    malformed = management.post("/v2/vendors", "{")

    assert malformed.json() == {
        "message": "The request body contains malformed JSON. Please ensure your data is properly formatted and try "
        "again."
    }
    assert (Managing().get("/v2/vendors").status_code, Managing().get("/v2/vendors").content) == (401, b"")
    offset = management.get("/v2/vendors?offset=-1").json()
    assert offset["errors"] == {"Request": ["'offset' must be greater than or equal to 0."]}


def test_applications_and_their_clients(management: Managing, vendor: int, instance: int, body: dict) -> None:
    made = management.post("/v2/applications", body)
    id_ = made.json()["id"]
    assert list(made.json()) == ["id", "key", "secret"]
    shown = {"id": id_} | body | {"profileIds": []}
    assert management.get(f"/v2/applications/{id_}").json() == shown
    assert management.get("/v2/applications?claimsetName=EdFiSandbox").json() == [shown]
    assert management.get(f"/v2/vendors/{vendor}/applications").json() == [shown]
    assert management.get(f"/v2/odsInstances/{instance}/applications").json() == [shown]
    [client] = management.get(f"/v2/apiclients?applicationid={id_}").json()
    assert client == {
        "id": client["id"],
        "key": made.json()["key"],
        "name": "Roster",
        "isApproved": False,
        "useSandbox": False,
        "sandboxType": 0,
        "applicationId": id_,
        "keyStatus": "Inactive",
        "educationOrganizationIds": [255901],
        "odsInstanceIds": [instance],
    }
    assert management.get(f"/v2/apiclients/{client['id']}").json() == client
    put = management.put(f"/v2/applications/{id_}", body | {"enabled": True})
    assert (put.status_code, management.get(f"/v2/applications/{id_}").json()["enabled"]) == (200, True)
    second = {"name": "Second", "isApproved": True, "applicationId": id_, "odsInstanceIds": [instance]}
    assert list(management.post("/v2/apiclients", second).json()) == ["id", "applicationId", "name", "key", "secret"]
    assert list(management.put(f"/v2/applications/{id_}/reset-credential").json()) == ["id", "key", "secret"]
    assert management.delete(f"/v2/applications/{id_}").json() == {"title": "Application deleted successfully"}


def test_what_an_application_refers_to_has_to_exist(management: Managing, body: dict) -> None:
    wrong = {"vendorId": 99999, "claimSetName": "Nothing", "odsInstanceIds": [8]}
    empty = {"odsInstanceIds": [], "educationOrganizationIds": []}

    missing = management.post("/v2/applications", body | wrong)

    assert missing.status_code == 400
    assert missing.json()["errors"] == {
        "VendorId": ["Please provide valid vendor id."],
        "ClaimSetName": ["No such claim set exists in the database."],
        "OdsInstanceIds": ["Please provide valid ods instance id. The id 8 does not exist."],
    }
    assert management.post("/v2/applications", body | empty).json()["errors"] == {
        "EducationOrganizationIds": ["Please provide at least one education organization id."],
        "OdsInstanceIds": ["Please provide at least one ods instance id."],
    }


def test_ods_instances(management: Managing, instance: int) -> None:
    shown = {"id": instance, "name": "2027", "instanceType": "Production"}
    context = {"odsInstanceId": instance, "contextKey": "schoolYear", "contextValue": "2027"}
    derivative = {"odsInstanceId": instance, "derivativeType": "Snapshot", "connectionString": "dbname=x"}
    of_context = created_id(management.post("/v2/odsInstanceContexts", context))
    of_derivative = created_id(management.post("/v2/odsInstanceDerivatives", derivative))

    assert management.get("/v2/odsInstances").json() == [shown]
    assert management.get(f"/v2/odsInstances/{instance}").json() == shown | {
        "odsInstanceContexts": [{"id": of_context} | context],
        "odsInstanceDerivatives": [{"id": of_derivative, "odsInstanceId": instance, "derivativeType": "Snapshot"}],
    }
    assert management.post("/v2/odsInstances", INSTANCE).json()["title"] == "Validation failed"
    invalid = management.post("/v2/odsInstances", INSTANCE | {"name": "x", "connectionString": "nothing"})
    assert invalid.json()["errors"] == {"ConnectionString": ["The connection string is not valid."]}
    again = management.post("/v2/odsInstanceContexts", context)
    assert again.json()["errors"] == {
        "ContextKey": ["The combined key ODS instance id and context key must be unique."]
    }
    assert management.post("/v2/odsInstanceDerivatives", derivative).json()["errors"] == {
        "DerivativeType": ["The combined key ODS instance id and derivative type must be unique."]
    }
    assert management.delete(f"/v2/odsInstances/{instance}").json()["errors"] == {
        "Id": ["There are some OdsInstanceContexts associated to this OdsInstance. Can not be deleted."]
    }
    assert management.delete(f"/v2/odsInstanceContexts/{of_context}").status_code == 200
    assert management.delete(f"/v2/odsInstanceDerivatives/{of_derivative}").status_code == 200
    renamed = management.put(f"/v2/odsInstances/{instance}", {"name": "2028", "instanceType": "Sandbox"})
    assert (renamed.status_code, management.get("/v3/dataStores").json()[0]["connectionString"]) == (
        200,
        "host=db7;database=lakeside;password=***",
    )
    assert management.delete(f"/v2/odsInstances/{instance}").json() == {"title": "Ods Instance deleted successfully"}


def test_only_version_2_asks_for_names_that_no_other_data_store_has(management: Managing, instance: int) -> None:
    """A database may repeat names and types, and what is repeated stays."""
    store = {"dataStoreType": "x", "name": "2027", "connectionString": "main"}
    other = created_id(management.post("/v3/dataStores", store))
    derivative = {"derivativeType": "Snapshot", "connectionString": "main"}
    of_instance = [derivative | {"dataStoreId": other}] * 2
    made = [management.post("/v3/dataStoreDerivatives", each).status_code for each in of_instance]
    taken = {"Name": ["An Ods Instance with this name already exists in the database. Please enter a unique name."]}

    renamed = management.put(f"/v2/odsInstances/{instance}", {"name": "2028", "instanceType": "x"})
    back = management.put(f"/v2/odsInstances/{instance}", {"name": "2027", "instanceType": "x"})
    by_version_3 = management.put(f"/v3/dataStores/{instance}", store | {"id": instance})

    assert made == [201, 201]
    assert (renamed.status_code, by_version_3.status_code) == (200, 204)
    assert (back.status_code, back.json()["errors"]) == (400, taken)
    assert [row["name"] for row in management.get("/v3/dataStores").json()] == ["2027", "2027"]


def test_nested_claims_are_the_flat_ones(management: Managing) -> None:
    original = ClaimSet.objects.get(name="SISVendor").pk
    nested = management.get(f"/v2/claimSets/{original}").json()
    assert (nested["name"], nested["_isSystemReserved"]) == ("SISVendor", True)

    body = {"name": "Copy", "resourceClaims": nested["resourceClaims"]}
    copy = created_id(management.post("/v2/claimSets/import", body))

    assert management.get(f"/v2/claimSets/{copy}").json()["resourceClaims"] == nested["resourceClaims"]
    flat = [management.get(f"/v3/claimSets/{id_}/export").json()["resourceClaims"] for id_ in (original, copy)]
    assert flat[0] == flat[1]


def test_claim_sets(management: Managing, body: dict) -> None:
    id_ = created_id(management.post("/v2/claimSets", {"name": "Mine"}))
    management.post("/v2/applications", body | {"claimSetName": "Mine"})
    claim = ResourceClaim.objects.get(name="domains/people").pk
    grants = f"/v2/claimSets/{id_}/resourceClaimActions"
    actions = {"resourceClaimActions": [{"name": "Read", "enabled": True}]}

    assert management.post(grants, actions | {"resourceClaimId": claim}).status_code == 201
    assert management.put(f"{grants}/{claim}", actions).status_code == 200
    [found] = management.get(f"/v2/claimSets/{id_}").json()["resourceClaims"]
    assert (found["id"], found["name"], found["children"]) == (claim, "people", [])
    used = management.delete(f"/v2/claimSets/{id_}")
    assert used.json()["errors"] == {
        "Id": ["Cannot delete this claim set. This claim set has 1 associated application(s)."]
    }
    reserved = ClaimSet.objects.get(name="SISVendor").pk
    assert management.put(f"/v2/claimSets/{reserved}", {"name": "X"}).json()["errors"] == {
        "Id": ["Claim set (SISVendor) is system reserved. May not be modified."]
    }
    assert management.put(f"/v2/claimSets/{id_}", {"name": "Ours"}).status_code == 200
    assert management.delete(f"{grants}/{claim}").status_code == 200


def test_profiles_and_lists_have_the_same_shapes(management: Managing) -> None:
    id_ = created_id(management.post("/v2/profiles", {"name": "Portal", "definition": PROFILE_XML}))

    assert management.put(f"/v2/profiles/{id_}", {"name": "Portal", "definition": PROFILE_XML}).status_code == 200
    other = management.put(f"/v2/profiles/{id_}", {"name": "Other", "definition": PROFILE_XML}).json()
    assert other["errors"] == {"Name": ["Name must match the name attribute in the XML definition."]}
    assert management.get(f"/v2/profiles/{id_}").json() == {"id": id_, "name": "Portal", "definition": PROFILE_XML}
    for path in ("actions", "authorizationStrategies", "resourceClaims"):
        assert management.get(f"/v2/{path}").json() == management.get(f"/v3/{path}").json()
    assert management.get("/v2/resourceClaims/99999").json() == {
        "title": "Not found: ResourceClaim with ID 99999. It may have been recently deleted."
    }
