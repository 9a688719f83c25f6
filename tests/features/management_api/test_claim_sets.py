"""Claim sets by HTTP: import, export, copy, grants one by one; the hierarchy; authorization metadata."""

import time
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from edfi_api.core.security.models import ApiClient, ClaimSet, ResourceClaim
from tests.features.management_api.managing import APPLICATION, Managing, created_id

URI = "http://ed-fi.org/identity/claims/"
PEOPLE, STUDENT = f"{URI}domains/people", f"{URI}ed-fi/student"
READ = {"claimName": PEOPLE, "actions": [{"name": "Read", "enabled": True}]}
OVERRIDES = [{"actionName": "Read", "authorizationStrategies": [{"name": "NoFurtherAuthorizationRequired"}]}]


def imported(management: Managing, name: str, *claims: dict[str, Any]) -> Any:
    return management.post("/v3/claimSets/import", {"claimSetName": name, "resourceClaims": list(claims)})


def test_a_claim_set_is_made_renamed_and_removed(management: Managing, vendor: int) -> None:
    id_ = created_id(management.post("/v3/claimSets", {"claimSetName": "Mine", "isSystemReserved": True}))
    management.post("/v3/applications", APPLICATION | {"vendorId": vendor, "claimSetName": "mine"})
    row = {
        "id": id_,
        "claimSetName": "Mine",
        "_isSystemReserved": False,
        "_applications": [{"applicationName": "Roster"}],
    }
    assert management.get("/v3/claimSets?name=Mine").json() == [row]
    assert management.get(f"/v3/claimSets/{id_}").json() == row | {"resourceClaims": []}

    assert management.put(f"/v3/claimSets/{id_}", {"id": id_, "claimSetName": "Ours"}).status_code == 204
    assert management.get("/v3/applications").json()[0]["claimSetName"] == "Ours"
    assert management.delete(f"/v3/claimSets/{id_}").status_code == 204
    assert management.get(f"/v3/claimSets/{id_}").json()["detail"] == (
        f"ClaimSet {id_} not found. It may have been recently deleted."
    )
    left = ApiClient.objects.get().application
    assert (left.claim_set, left.claim_set_name) == (None, "Ours")


@pytest.mark.parametrize(
    ("name", "texts"),
    [
        ("", ["Please provide a valid claim set name."]),
        ("a b", ["Claim set name must not contain white spaces."]),
        ("x" * 257, ["The claim set name must be less than 256 characters."]),
    ],
)
def test_names_of_claim_sets(management: Managing, name: str, texts: list[str]) -> None:
    answer = management.post("/v3/claimSets", {"claimSetName": name})

    assert (answer.status_code, answer.json()["validationErrors"]) == (400, {"ClaimSetName": texts})


def test_a_name_is_taken_in_any_case(management: Managing) -> None:
    made = created_id(management.post("/v3/claimSets", {"claimSetName": "Mine"}))

    for answer in (
        management.post("/v3/claimSets", {"claimSetName": "MINE"}),
        management.put(f"/v3/claimSets/{made}", {"id": made, "claimSetName": "edfisandbox"}),
        management.post("/v3/claimSets/copy", {"originalId": made, "claimSetName": "mine"}),
    ):
        assert answer.status_code == 409
        assert answer.json()["type"] == "urn:ed-fi:api:conflict:non-unique-identity"
        assert answer.json()["detail"] == (
            "The identifying value(s) of the item are the same as another item that already exists."
        )
        assert answer.json()["errors"] == ["A claim set with this name already exists."]


def test_reserved_claim_sets_do_not_change(management: Managing) -> None:
    id_ = ClaimSet.objects.get(name="SISVendor").pk

    for verb, answer in {
        "updated": management.put(f"/v3/claimSets/{id_}", {"id": id_, "claimSetName": "Other"}),
        "deleted": management.delete(f"/v3/claimSets/{id_}"),
        "imported": imported(management, "sisvendor"),
    }.items():
        assert (answer.status_code, answer.json()["detail"]) == (
            400,
            f"The specified claim set is system-reserved and cannot be {verb}.",
        )


def test_an_export_is_imported_under_another_name_and_exported_alike(management: Managing) -> None:
    original = ClaimSet.objects.get(name="SISVendor").pk
    export = management.get(f"/v3/claimSets/{original}/export").json()

    answer = imported(management, "Copy", *export["resourceClaims"])

    assert (answer.status_code, answer.json()["warnings"]) == (201, [])
    assert len(export["resourceClaims"]) > 5
    again = management.get(f"/v3/claimSets/{created_id(answer)}/export").json()
    assert again["resourceClaims"] == export["resourceClaims"]
    copy = management.post("/v3/claimSets/copy", {"originalId": original, "claimSetName": "Second"})
    assert (copy.status_code, copy.content) == (201, b"")
    assert management.get(f"/v3/claimSets/{created_id(copy)}").json()["resourceClaims"] == export["resourceClaims"]


def test_an_import_replaces_and_an_export_has_parents_first(management: Managing) -> None:
    imported(management, "Mine", READ)
    student = {"claimName": STUDENT, "parentClaimName": PEOPLE, "actions": [{"name": "read"}]}

    answer = imported(management, "MINE", student | {"authorizationStrategyOverrides": OVERRIDES}, READ)

    assert ClaimSet.objects.filter(name="Mine").count() == 1
    claims = management.get(f"/v3/claimSets/{answer.json()['id']}/export").json()["resourceClaims"]
    assert [each["claimName"] for each in claims] == [PEOPLE, STUDENT]
    assert claims[1] | {"_defaultAuthorizationStrategies": []} == {
        "name": "student",
        "claimName": STUDENT,
        "parentClaimName": PEOPLE,
        "actions": [{"name": "Read", "enabled": True}],
        "_defaultAuthorizationStrategies": [],
        "authorizationStrategyOverrides": [
            {
                "actionId": None,
                "actionName": "Read",
                "authorizationStrategies": [{"authStrategyName": "NoFurtherAuthorizationRequired"}],
            }
        ],
    }
    assert claims[0]["_defaultAuthorizationStrategies"][0]["actionName"] == "Create"


@pytest.mark.parametrize(
    ("claims", "text"),
    [
        (
            [READ, READ | {"claimName": PEOPLE.upper().replace(URI.upper(), URI)}],
            f"Only unique resource claims can be added. The following is a duplicate resource: '{PEOPLE}'.",
        ),
        ([READ | {"actions": []}], f"Actions can not be empty. Resource name: '{PEOPLE}'"),
        (
            [READ | {"actions": [{"name": "Read", "enabled": False}]}],
            f"A resource must have at least one action associated with it to be added. Resource name: '{PEOPLE}'",
        ),
        (
            [READ | {"actions": [{"name": "Read"}, {"name": "read"}]}],
            f"Read action is duplicated. Resource name: '{PEOPLE}'",
        ),
        (
            [READ | {"actions": [{"name": "Read"}, {"name": "Fly"}]}],
            f"Fly is not a valid action. Resource name: '{PEOPLE}'",
        ),
        (
            [
                READ
                | {
                    "authorizationStrategyOverrides": [
                        {"actionName": "Read", "authorizationStrategies": [{"authStrategyName": "Magic"}]}
                    ]
                }
            ],
            "This resource claim contains an authorization strategy which is not in the system. ClaimSet Name: 'Mine' "
            f"Resource name: '{PEOPLE}' Authorization strategy: 'Magic'.",
        ),
    ],
)
def test_wrong_resource_claims_are_refused(management: Managing, claims: list[dict], text: str) -> None:
    answer = imported(management, "Mine", *claims)

    assert answer.status_code == 400
    assert [each.lower() for each in answer.json()["validationErrors"]["ResourceClaims"]] == [text.lower()]
    assert not ClaimSet.objects.filter(name="Mine").exists()


def test_unknown_claims_and_wrong_parents_are_warnings(management: Managing) -> None:
    nothing = READ | {"claimName": f"{URI}domains/nothing"}
    misplaced = {"claimName": STUDENT, "parentClaimName": f"{URI}domains/other", "actions": [{"name": "Read"}]}

    answer = imported(management, "Mine", nothing, misplaced)

    assert answer.json()["warnings"] == [
        f"{URI}domains/nothing",
        f"Child resource '{STUDENT}' added to the wrong parent resource. Correct parent resource is: '{PEOPLE}'.",
    ]


def test_grants_are_edited_one_by_one(management: Managing) -> None:
    id_ = created_id(management.post("/v3/claimSets", {"claimSetName": "Mine"}))
    claim = ResourceClaim.objects.get(name="domains/people").pk
    grants = f"/v3/claimSets/{id_}/resourceClaimActions"

    def shown() -> list[tuple[list[str], list[str]]]:
        claims = management.get(f"/v3/claimSets/{id_}").json()["resourceClaims"]
        return [
            (
                [action["name"] for action in each["actions"]],
                [
                    name["authStrategyName"]
                    for override in each["authorizationStrategyOverrides"]
                    for name in override["authorizationStrategies"]
                ],
            )
            for each in claims
        ]

    body = {"resourceClaimId": claim, "resourceClaimActions": [{"name": "Read", "enabled": True}]}
    assert management.post(grants, body).status_code == 201
    assert shown() == [(["Read"], [])]
    override = {"actionName": "Read", "authorizationStrategies": ["NamespaceBased"]}
    assert management.post(f"{grants}/{claim}/overrideAuthorizationStrategy", override).status_code == 204
    assert shown() == [(["Read"], ["NamespaceBased"])]
    assert management.post(f"{grants}/{claim}/resetAuthorizationStrategies", {}).status_code == 204
    more = {"resourceClaimActions": [{"name": "Create"}, {"name": "Read"}, {"name": "Delete", "enabled": False}]}
    assert management.put(f"{grants}/{claim}", more).status_code == 204
    assert shown() == [(["Create", "Read"], [])]

    wrong = management.post(f"{grants}/{claim}/overrideAuthorizationStrategy", override | {"actionName": "Fly"})
    assert wrong.json()["validationErrors"] == {"ActionName": ["ActionName doesn't exist."]}
    magic = management.post(
        f"{grants}/{claim}/overrideAuthorizationStrategy", override | {"authorizationStrategies": ["Magic"]}
    )
    assert magic.json()["validationErrors"] == {"AuthorizationStrategies": ["Magic doesn't exist."]}
    none = management.put(f"{grants}/{claim}", {"resourceClaimActions": []})
    assert none.json()["validationErrors"] == {
        "ResourceClaimActions": ["A resource must have at least one action associated with it to be added."]
    }
    assert management.delete(f"{grants}/{claim}").status_code == 204
    gone = management.delete(f"{grants}/{claim}")
    assert gone.json()["validationErrors"] == {
        "ResourceClaimId": ["Resource claim doesn't exist for the Claim set provided"]
    }


def test_the_hierarchy_is_a_tree(management: Managing) -> None:
    roots = management.get("/v3/resourceClaims").json()
    found = next(child for child in roots[0]["children"] if child["name"] == "people")

    assert [(root["name"], root["parentId"], root["parentName"]) for root in roots] == [
        ("everything", 0, None),
        ("identity", 0, None),
    ]
    assert (found["parentId"], found["parentName"]) == (roots[0]["id"], "everything")
    assert {"student", "staff"} < {child["name"] for child in found["children"]}
    assert management.get(f"/v3/resourceClaims/{found['id']}").json() == found
    assert [root["name"] for root in management.get("/v3/resourceClaims?name=EVERYTHING").json()] == ["everything"]
    assert management.get("/v3/resourceClaims/99999").json()["detail"] == "ResourceClaim 99999 not found."


def test_default_strategies_are_listed(management: Managing) -> None:
    query = "?resourceName=People"
    actions = management.get(f"/v3/resourceClaimActions{query}").json()
    strategies = management.get(f"/v3/resourceClaimActionAuthStrategies{query}").json()

    assert actions[0]["claimName"] == PEOPLE
    assert {"name": "Read"} in actions[0]["actions"]
    of_read = strategies[0]["authorizationStrategiesForActions"][1]
    assert (of_read["actionId"], of_read["actionName"]) == (2, "Read")
    assert of_read["authorizationStrategies"][0]["authStrategyName"] == "RelationshipsWithEdOrgsAndPeople"


def test_actions_and_strategies_are_listed(management: Managing) -> None:
    assert management.get("/v3/actions").json() == [
        {"id": 1, "name": "Create", "uri": "uri://ed-fi.org/api/actions/create"},
        {"id": 2, "name": "Read", "uri": "uri://ed-fi.org/api/actions/read"},
        {"id": 3, "name": "Update", "uri": "uri://ed-fi.org/api/actions/update"},
        {"id": 4, "name": "Delete", "uri": "uri://ed-fi.org/api/actions/delete"},
        {"id": 5, "name": "ReadChanges", "uri": "uri://ed-fi.org/api/actions/readChanges"},
    ]
    first = management.get("/v3/authorizationStrategies?limit=1").json()
    assert first == [
        {"id": 1, "name": "NoFurtherAuthorizationRequired", "displayName": "No Further Authorization Required"}
    ]


def test_authorization_metadata_has_effective_strategies_of_resources(management: Managing) -> None:
    students = [{"claimName": STUDENT, "actions": [{"name": "Read"}], "authorizationStrategyOverrides": OVERRIDES}]
    imported(management, "Mine", READ, *students)

    [found] = management.get("/v3/authorizationMetadata?claimSetName=mine").json()

    assert found["claimSetName"] == "Mine"
    by_name = {claim["name"]: claim["authorizationId"] for claim in found["claims"]}
    strategies = {each["id"]: each["actions"] for each in found["authorizations"]}
    assert PEOPLE not in by_name
    assert strategies[by_name[STUDENT]] == [
        {"name": "Read", "authorizationStrategies": [{"name": "NoFurtherAuthorizationRequired"}]}
    ]
    assert strategies[by_name[f"{URI}ed-fi/staff"]] == [
        {"name": "Read", "authorizationStrategies": [{"name": "RelationshipsWithEdOrgsAndPeople"}]}
    ]
    assert management.get("/v3/authorizationMetadata?claimSetName=Nothing").json() == []
    assert len(management.get("/v3/authorizationMetadata").json()) == ClaimSet.objects.count()


def test_the_largest_bundled_claim_set_is_imported_in_few_queries(management: Managing) -> None:
    exports = [
        management.get(f"/v3/claimSets/{id_}/export").json() for id_ in ClaimSet.objects.values_list("pk", flat=True)
    ]
    largest = max(exports, key=lambda export: len(export["resourceClaims"]))

    began = time.process_time()
    with CaptureQueriesContext(
        connection,
    ) as queries:
        answer = imported(management, "Copy", *largest["resourceClaims"])

    assert answer.status_code == 201
    assert len(queries) < 50
    assert time.process_time() - began < 2
