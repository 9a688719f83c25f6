"""The hierarchy by HTTP: claims one by one, files of claims, and all claims at once."""

import json

import pytest

from edfi_api.core.security.claims.stored_claims import stored_claims
from edfi_api.core.security.models import ClaimSet, ResourceClaim
from tests.features.management_api.managing import APPLICATION, Managing, created_id

URI = "http://ed-fi.org/identity/claims/"


def test_a_claim_is_made_changed_and_removed(management: Managing) -> None:
    parent = ResourceClaim.objects.get(name="domains/people").pk
    body = {"name": f"{URI}domains/pets", "parentId": parent, "defaults": {"Read": ["NamespaceBased"]}}
    id_ = created_id(management.post("/v3/resourceClaims", body))

    shown = management.get(f"/v3/resourceClaims/{id_}").json()
    assert shown == {"id": id_, "name": "pets", "parentId": parent, "parentName": "people", "children": []}
    assert stored_claims().resource_claims["domains/pets"].defaults == {"Read": ("NamespaceBased",)}
    changed = management.put(f"/v3/resourceClaims/{id_}", {"id": id_, "name": "domains/animals", "parentId": None})
    assert changed.status_code == 204
    assert stored_claims().resource_claims["domains/animals"].defaults == {}
    assert management.delete(f"/v3/resourceClaims/{id_}").status_code == 204
    assert management.delete(f"/v3/resourceClaims/{id_}").status_code == 404


def test_wrong_claims_are_refused(management: Managing) -> None:
    people = ResourceClaim.objects.get(name="domains/people").pk
    student = ResourceClaim.objects.get(name="ed-fi/student").pk

    def errors(body: dict) -> dict:
        return management.post("/v3/resourceClaims", body).json()["validationErrors"]

    assert errors({"name": "domains/people"}) == {"Name": ["A resource claim with this name already exists."]}
    assert errors({"name": "x", "defaults": {"Read": ["Magic"]}}) == {"Defaults": ["Magic doesn't exist."]}
    assert errors({"name": "x", "defaults": {"Fly": []}}) == {"Defaults": ["Fly is not a valid action."]}
    assert management.post("/v3/resourceClaims", {"name": "x", "parentId": 99999}).status_code == 409
    below_itself = {"id": people, "name": "domains/people", "parentId": student}
    assert management.put(f"/v3/resourceClaims/{people}", below_itself).json()["validationErrors"] == {
        "ParentId": ["The resource claim would contain itself."]
    }
    assert management.delete(f"/v3/resourceClaims/{student}").json()["title"] == "Dependent Item Exists"
    assert management.delete(f"/v3/resourceClaims/{people}").status_code == 409


def test_a_file_of_claims_is_rehearsed_and_imported(management: Managing) -> None:
    file = {"resourceClaims": [{"name": "domains/pets", "defaults": ["NamespaceBased"]}]}

    rehearsed = management.post("/v3/resourceClaims/import?dryRun=true", file)
    assert rehearsed.json()["changes"][0] == "+ resource claim domains/pets"
    assert not ResourceClaim.objects.filter(name="domains/pets").exists()
    assert management.post("/v3/resourceClaims/import", file).json() == rehearsed.json()
    assert ResourceClaim.objects.filter(name="domains/pets").exists()
    assert management.post("/v3/resourceClaims/import", {"claims": 1}).status_code == 400


def test_claims_are_named_as_by_the_ods_too(management: Managing, configured) -> None:
    configured(CLAIMS_UPLOAD=True)
    earlier = "http://ed-fi.org/ods/identity/claims/"
    file = {"claimSets": [{"name": "Ours", "grants": [{"claims": [f"{earlier}course"], "actions": ["Read"]}]}]}
    people = {"name": f"{earlier}domains/people", "claims": [{"name": f"{URI}student"}, {"name": f"{URI}ed-fi/staff"}]}
    people["claims"][0]["claimSets"] = [{"name": "Only", "actions": [{"name": "Read"}]}]
    course = {"claimName": f"{earlier}course", "actions": [{"name": "Read", "enabled": True}]}
    nested = {"name": "people", "actions": [], "children": [{"name": f"{URI}student", "actions": course["actions"]}]}
    nested["actions"] = course["actions"]

    management.post("/v3/resourceClaims/import", file)
    of_three = management.post("/v3/claimSets/import", {"claimSetName": "Three", "resourceClaims": [course]})
    of_two = management.post("/v2/claimSets/import", {"name": "Two", "resourceClaims": [nested]})
    taken = management.post("/v3/resourceClaims", {"name": f"{earlier}student"})
    granted = {name: set(value.grants) for name, value in stored_claims().claim_sets.items()}
    document = {"claimSets": [{"claimSetName": "Only"}], "claimsHierarchy": [people]}
    uploaded = management.post("/management/upload-claims", {"claims": document})

    assert (of_three.status_code, of_two.status_code) == (201, 201), of_two.content
    assert taken.json()["validationErrors"] == {"Name": ["A resource claim with this name already exists."]}
    assert granted["Ours"] == granted["Three"] == {"ed-fi/course"}
    assert granted["Two"] == {"domains/people", "ed-fi/student"}
    assert uploaded.status_code == 200
    assert set(stored_claims().resource_claims) == {"domains/people", "ed-fi/student", "ed-fi/staff"}
    assert stored_claims().resource_claims["ed-fi/student"].parent == "domains/people"
    assert set(stored_claims().claim_sets["Only"].grants) == {"ed-fi/student"}


def test_uploads_are_off_without_the_setting(management: Managing) -> None:
    for method, path, text in (
        ("post", "upload-claims", "Claims upload endpoint is not available."),
        ("post", "reload-claims", "Claims reload endpoint is not available."),
        ("get", "current-claims", "Current claims endpoint is not available."),
    ):
        answer = management.request(method, f"/management/{path}")
        assert (answer.status_code, answer.json()["detail"]) == (404, text)


def test_all_claims_are_replaced_at_once_and_back(management: Managing, configured, vendor: int) -> None:
    configured(CLAIMS_UPLOAD=True)
    before = stored_claims()
    current = management.get("/management/current-claims")
    management.post("/v3/applications", APPLICATION | {"vendorId": vendor})
    claim = {
        "name": f"{URI}domains/all",
        "defaultAuthorization": {
            "actions": [{"name": "Read", "authorizationStrategies": [{"name": "NamespaceBased"}]}]
        },
        "claimSets": [{"name": "Only", "actions": [{"name": "Read"}]}],
        "claims": [{"name": f"{URI}ed-fi/student"}],
    }
    document = {"claimSets": [{"claimSetName": "Only", "isSystemReserved": True}], "claimsHierarchy": [claim]}

    uploaded = management.post("/management/upload-claims", {"claims": document})

    assert uploaded.status_code == 200, uploaded.content
    assert uploaded.json()["success"] is True
    assert list(ClaimSet.objects.values_list("name", "is_system_reserved")) == [("Only", True)]
    now = management.get("/management/current-claims")
    assert now.json() == document
    assert now.headers["X-Reload-Id"] == uploaded.json()["reloadId"]
    assert management.get("/v3/applications").json()[0]["claimSetName"] == "EdFiSandbox"

    again = management.post("/management/upload-claims", {"claims": current.json()})
    assert again.status_code == 200, again.content
    assert stored_claims().resource_claims == before.resource_claims
    assert management.post("/management/reload-claims", {}).json()["success"] is True
    assert stored_claims() == before


@pytest.mark.parametrize(
    ("body", "errors"),
    [
        ({}, {"Claims": ["Claims JSON is required"]}),
        (
            {"claims": {}},
            {
                "claimSets": ["Missing required 'claimSets' property"],
                "claimsHierarchy": ["Missing required 'claimsHierarchy' property"],
            },
        ),
        (
            {"claims": {"claimSets": [{}], "claimsHierarchy": []}},
            {"$.claimSets[0]": ["Object missing required field `claimSetName`"]},
        ),
        (
            {"claims": {"claimSets": [{"claimSetName": "x" * 257}], "claimsHierarchy": []}},
            {"$.claimSets[0].claimSetName": ["Expected `str` of length <= 256"]},
        ),
        (
            {"claims": {"claimSets": [], "claimsHierarchy": [{"name": "x", "claims": [{"name": "y" * 256}]}]}},
            {"$.claimsHierarchy[0].claims[0].name": ["Expected `str` of length <= 255"]},
        ),
        (
            {"claims": {"claimSets": [{"claimSetName": "A"}, {"claimSetName": "a"}], "claimsHierarchy": []}},
            {"claimSets": ["Names of claim sets are unique in any case."]},
        ),
    ],
)
def test_wrong_uploads_are_refused(management: Managing, configured, body: dict, errors: dict) -> None:
    configured(CLAIMS_UPLOAD=True)

    answer = management.post("/management/upload-claims", json.dumps(body))

    assert (answer.status_code, answer.json()["validationErrors"]) == (400, errors)
