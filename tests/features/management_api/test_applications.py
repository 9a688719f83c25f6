"""`/v3/applications` and `/v3/apiClients`: rules, references, secrets, and claim sets that do not exist."""

import re
from io import StringIO

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError

from edfi_api.core.data_stores.stores import create_data_store
from edfi_api.core.security.claims.model import Claims, ClaimSetValue
from edfi_api.core.security.claims.stored_claims import load
from edfi_api.core.security.models import ApiClient
from edfi_api.core.security.profiles.models import Profile
from edfi_api.core.security.requests.authentication import client_of_token
from tests.conftest import DATA, http
from tests.features.management_api.managing import APPLICATION, Managing, created_id

SECRET = re.compile(r"(?=.*[a-z])(?=.*[A-Z])(?=.*[0-9])(?=.*[-_.])[A-Za-z0-9._-]{48}")


def token(key: str, secret: str) -> str | None:
    form = {"grant_type": "client_credentials", "client_id": key, "client_secret": secret}
    return http().post("/oauth/token", form, content_type="application/json").json().get("access_token")


def students(bearer: str | None) -> int:
    return http().get(f"{DATA}/students", HTTP_AUTHORIZATION=f"Bearer {bearer}").status_code


def test_an_application_comes_with_a_client_whose_key_opens_data(management: Managing, vendor: int) -> None:
    made = management.post("/v3/applications", APPLICATION | {"vendorId": vendor})

    body = made.json()
    assert made.status_code == 201
    assert list(body) == ["id", "key", "secret"]
    assert SECRET.fullmatch(body["secret"])
    assert created_id(made) == body["id"]
    assert students(token(body["key"], body["secret"])) == 200
    assert management.get(f"/v3/applications/{body['id']}").json() == {
        "id": body["id"],
        "applicationName": "Roster",
        "claimSetName": "EdFiSandbox",
        "vendorId": vendor,
        "educationOrganizationIds": [255901],
        "dataStoreIds": [],
        "profileIds": [],
        "enabled": True,
    }
    clients = management.get(f"/v3/apiClients?applicationid={body['id']}").json()
    assert [(row["clientId"], row["name"], row["isApproved"]) for row in clients] == [(body["key"], "Roster", True)]


def test_a_reset_voids_the_secret_and_its_tokens(management: Managing, application: dict) -> None:
    old = token(application["key"], application["secret"])

    reset = management.put(f"/v3/applications/{application['id']}/reset-credential")

    assert reset.status_code == 200
    assert list(reset.json()) == ["id", "key", "secret"]
    assert (reset.json()["id"], reset.json()["key"]) == (application["id"], application["key"])
    client_of_token.cache_clear()
    assert students(old) == 401
    assert token(application["key"], application["secret"]) is None
    assert students(token(application["key"], reset.json()["secret"])) == 200


def test_a_claim_set_may_come_later(management: Managing, vendor: int) -> None:
    body = APPLICATION | {"vendorId": vendor, "claimSetName": "Later"}
    made = management.post("/v3/applications", body).json()
    bearer = token(made["key"], made["secret"])
    out = StringIO()
    call_command("list_api_clients", stdout=out)
    checked = StringIO()
    call_command("check", databases=["default"], stderr=checked, stdout=checked)

    assert students(bearer) == 500
    assert "Later (does not exist)" in out.getvalue()
    assert "(security.W006) There are no such claim sets: Later (of Roster)" in checked.getvalue()

    load(
        Claims({}, {"LATER": ClaimSetValue("", {"domains/people": {"Read": ("NoFurtherAuthorizationRequired",)}})}), ""
    )
    client_of_token.cache_clear()
    assert students(bearer) == 200
    assert management.get("/v3/applications").json()[0]["claimSetName"] == "LATER"


@pytest.mark.parametrize(
    ("changes", "errors"),
    [
        ({"applicationName": ""}, {"ApplicationName": ["'Application Name' must not be empty."]}),
        (
            {"applicationName": "x" * 300},
            {
                "ApplicationName": [
                    "The length of 'Application Name' must be 256 characters or fewer. You entered 300 characters."
                ]
            },
        ),
        (
            {"vendorId": 0, "claimSetName": "Two words"},
            {
                "VendorId": ["'Vendor Id' must not be empty.", "'Vendor Id' must be greater than '0'."],
                "ClaimSetName": ["Claim set name must not contain white spaces."],
            },
        ),
        (
            {"dataStoreIds": [1, -1], "educationOrganizationIds": [0, 9223372036854775807]},
            {
                "EducationOrganizationIds[0]": ["'Education Organization Ids' must be greater than '0'."],
                "DataStoreIds[1]": ["'Data Store Ids' must be greater than '0'."],
            },
        ),
        ({"educationOrganizationIds": [9223372036854775808]}, {"$": ["The request body contains invalid JSON."]}),
        ({"profileIds": "1"}, {"$": ["The request body contains invalid JSON."]}),
    ],
)
def test_rules_of_an_application(management: Managing, vendor: int, changes: dict, errors: dict) -> None:
    answer = management.post("/v3/applications", {"vendorId": vendor} | APPLICATION | changes)

    assert (answer.status_code, answer.json()["validationErrors"]) == (400, errors)


@pytest.mark.parametrize(
    ("changes", "detail"),
    [
        ({"vendorId": 99999}, "Reference 'VendorId' does not exist."),
        ({"dataStoreIds": [99999]}, "Data store does not exist."),
        ({"profileIds": [99999]}, "Profile does not exist."),
    ],
)
def test_references_have_to_exist(management: Managing, vendor: int, changes: dict, detail: str) -> None:
    answer = management.post("/v3/applications", {"vendorId": vendor} | APPLICATION | changes)

    assert answer.status_code == 409
    assert answer.json()["type"] == "urn:ed-fi:api:conflict:unresolved-reference"
    assert answer.json()["title"] == "Unresolved Reference"
    assert answer.json()["detail"] == detail


def test_a_put_replaces_everything(management: Managing, vendor: int, application: dict) -> None:
    store = create_data_store("year").pk
    profile = Profile.objects.create(name="Portal", definition="{}").pk
    id_ = application["id"]
    body = {
        "id": id_,
        "applicationName": "Roster 2",
        "vendorId": vendor,
        "claimSetName": "sisvendor",
        "dataStoreIds": [store, store],
        "profileIds": [profile, profile],
    }

    assert management.put(f"/v3/applications/{id_}", body).status_code == 204

    assert management.get(f"/v3/applications/{id_}").json() == {
        "id": id_,
        "applicationName": "Roster 2",
        "claimSetName": "sisvendor",
        "vendorId": vendor,
        "educationOrganizationIds": [],
        "dataStoreIds": [store],
        "profileIds": [profile],
        "enabled": True,
    }
    assert ApiClient.objects.get().application.claim_set.name == "SISVendor"
    without = {name: value for name, value in body.items() if name != "claimSetName"}
    refused = management.put(f"/v3/applications/{id_}", without)
    assert refused.json()["validationErrors"] == {"$": ["The request body contains invalid JSON."]}


def test_names_of_applications_are_unique_per_vendor(management: Managing, vendor: int, application: dict) -> None:
    answer = management.post("/v3/applications", APPLICATION | {"vendorId": vendor})

    assert answer.status_code == 400
    assert answer.json()["validationErrors"] == {"ApplicationName": ["Application 'Roster' already exists for vendor."]}


def test_filters_of_applications(management: Managing, vendor: int, application: dict) -> None:
    id_ = application["id"]

    def found(query: str) -> list[int]:
        return [row["id"] for row in management.get(f"/v3/applications?{query}").json()]

    assert found(f"ids={id_},99999") == found("claimSetName=EdFiSandbox") == found(f"id={id_}") == [id_]
    assert found("ids=99999") == []
    both = management.get(f"/v3/applications?id={id_}&ids={id_}").json()
    assert both["errors"] == ["'id' and 'ids' cannot be used together."]
    wrong = management.get("/v3/applications?ids=1,x").json()
    assert wrong["errors"] == ["The 'ids' query parameter must be a comma-separated list of integers."]


def test_a_client_is_found_by_key_and_changed_by_number(management: Managing, application: dict) -> None:
    store = create_data_store("year").pk
    body = {"applicationId": application["id"], "name": "Second", "isApproved": True, "dataStoreIds": [store]}
    made = management.post("/v3/apiClients", body)
    found = made.json()
    assert made.status_code == 201
    assert list(found) == ["id", "applicationId", "name", "key", "secret"]
    assert created_id(made) == found["id"]
    shown = management.get(f"/v3/apiClients/{found['key']}").json()
    assert {name: shown[name] for name in shown if name != "clientUuid"} == {
        "id": found["id"],
        "applicationId": application["id"],
        "clientId": found["key"],
        "name": "Second",
        "isApproved": True,
        "dataStoreIds": [store],
        "externalIdentity": None,
    }
    assert re.fullmatch(r"[0-9a-f-]{36}", shown["clientUuid"])
    bearer = token(found["key"], found["secret"])
    assert bearer is not None

    put = management.put(f"/v3/apiClients/{found['id']}", body | {"id": found["id"], "isApproved": False})
    assert put.status_code == 204
    assert token(found["key"], found["secret"]) is None
    client_of_token.cache_clear()
    assert students(bearer) == 401
    assert management.get(f"/v3/applications/{application['id']}").json()["enabled"] is False
    again = management.put(f"/v3/apiClients/{found['id']}/reset-credential").json()
    assert (list(again), again["key"]) == (["id", "applicationId", "name", "key", "secret"], found["key"])
    assert management.delete(f"/v3/apiClients/{found['id']}").status_code == 204
    assert management.get(f"/v3/apiClients/{found['key']}").json()["detail"] == "ApiClient not found"


@pytest.mark.parametrize(
    ("changes", "errors"),
    [
        (
            {"dataStoreIds": []},
            {"DataStoreIds": ["DataStoreIds cannot be empty. At least one Data Store is required."]},
        ),
        (
            {"name": "x" * 51},
            {"Name": ["The length of 'Name' must be 50 characters or fewer. You entered 51 characters."]},
        ),
        ({"isApproved": "yes"}, {"$": ["The request body contains invalid JSON."]}),
    ],
)
def test_rules_of_a_client(management: Managing, application: dict, changes: dict, errors: dict) -> None:
    body = {"applicationId": application["id"], "name": "Second", "isApproved": True, "dataStoreIds": [1]}

    answer = management.post("/v3/apiClients", body | changes)

    assert (answer.status_code, answer.json()["validationErrors"]) == (400, errors)


def test_references_of_a_client_have_to_exist(management: Managing, application: dict) -> None:
    body = {"applicationId": application["id"], "name": "Second", "isApproved": True, "dataStoreIds": [88, 99]}

    stores = management.post("/v3/apiClients", body)
    application_of_none = management.post("/v3/apiClients", body | {"applicationId": 7777})

    assert (stores.status_code, stores.json()["detail"]) == (
        409,
        "The following DataStoreIds were not found in database: 88, 99",
    )
    assert application_of_none.json()["detail"] == "Application with ID 7777 not found."


def test_names_of_clients_are_unique_within_their_application(management: Managing, vendor: int, application) -> None:
    store = create_data_store("year").pk
    body = {"applicationId": application["id"], "name": "Roster", "isApproved": True, "dataStoreIds": [store]}
    other = management.post("/v3/applications", APPLICATION | {"vendorId": vendor, "applicationName": "Other"}).json()

    taken = management.post("/v3/apiClients", body)
    elsewhere = management.post("/v3/apiClients", body | {"applicationId": other["id"]})

    assert (taken.status_code, elsewhere.status_code) == (400, 201)
    assert taken.json()["validationErrors"] == {"Name": ["API client 'Roster' already exists for application."]}
    with pytest.raises(CommandError, match='Several API clients have the name "Roster"; say which by its key: '):
        call_command("disable_api_client", "Roster")
