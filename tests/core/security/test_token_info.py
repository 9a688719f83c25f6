"""Introspection of a token by its bearer. See
meadowlark/docs/design/authorization.md#token-introspection."""

import time

import pytest
from django.test import Client

from edfi_api.core.documents.document_validator import DocumentValidators
from edfi_api.core.security.clients import create_client
from edfi_api.core.security.models import Application, ClaimSet
from edfi_api.core.security.requests.authentication import client_of_token
from edfi_api.core.storage import store
from edfi_api.core.storage.write_requests import WriteRequest
from tests.conftest import new_token
from tests.support.factories import STORED_URIS

ADDRESS = "/oauth/token_info"
FORM = "application/x-www-form-urlencoded"


@pytest.fixture
def token(db: None) -> str:
    credentials = create_client(
        "vendor",
        claim_set_name="SISVendor",
        education_organization_ids=[441, 7],
        namespace_prefixes=["uri://a.example"],
    )
    form = {"grant_type": "client_credentials", "client_id": credentials.key, "client_secret": credentials.secret}
    return Client().post("/oauth/token", form, content_type="application/json").json()["access_token"]


def introspect(token: str, body: str, content_type: str = FORM):
    return Client().post(ADDRESS, body, content_type=content_type, headers={"Authorization": f"Bearer {token}"})


def test_introspection_describes_the_token_to_its_bearer(token: str) -> None:
    response = introspect(token, f"token={token}")

    assert response.status_code == 200
    assert response["Cache-Control"] == "no-cache"
    info = response.json()
    assert info["active"] is True
    assert info["claim_set"] == {"name": "SISVendor"}
    assert info["namespace_prefixes"] == ["uri://a.example"]
    assert info["education_organizations"] == [{"education_organization_id": 7}, {"education_organization_id": 441}]
    assert time.time() < info["exp"] <= time.time() + 1800


@pytest.fixture
def lakeside(documents, resource_named) -> None:
    """A service center, a district in it, and a school in the district."""
    district, school = resource_named("LocalEducationAgency"), resource_named("School")
    center = resource_named("EducationServiceCenter")
    in_center = {"educationServiceCenterReference": {"educationServiceCenterId": 44}}
    in_district = {"localEducationAgencyReference": {"localEducationAgencyId": 441}}
    bodies = [
        (center, {"educationServiceCenterId": 44, "nameOfInstitution": "Valley"}),
        (district, {"localEducationAgencyId": 441, "nameOfInstitution": "Lakeside ISD"} | in_center),
        (school, {"schoolId": 4410001, "nameOfInstitution": "Lakeside High"} | in_district),
    ]
    validators = DocumentValidators(documents.surface)
    for resource, members in bodies:
        documents.store_targets(resource, documents.minimal_body(resource))
        store.upsert(
            WriteRequest(
                validators[resource.name].validate(documents.minimal_body(resource, **members), STORED_URIS),
                using="default",
            )
        )


def test_organizations_are_listed_with_all_lower_ones_and_the_ids_of_higher_ones(token: str, lakeside: None) -> None:
    assert introspect(token, f"token={token}").json()["education_organizations"] == [
        {"education_organization_id": 7},
        {
            "education_organization_id": 441,
            "name_of_institution": "Lakeside ISD",
            "type": "edfi.LocalEducationAgency",
            "local_education_agency_id": 441,
            "education_service_center_id": 44,
        },
        {
            "education_organization_id": 4410001,
            "name_of_institution": "Lakeside High",
            "type": "edfi.School",
            "school_id": 4410001,
            "local_education_agency_id": 441,
            "education_service_center_id": 44,
        },
    ]


def test_resources_are_listed_with_their_operations(token: str) -> None:
    listed = introspect(token, f"token={token}").json()["resources"]

    operations = {each["resource"]: each["operations"] for each in listed}
    assert list(operations) == sorted(operations)
    assert operations["/ed-fi/schools"] == ["Read"]
    assert operations["/ed-fi/students"] == ["Create", "Read", "Update", "Delete"]
    assert operations["/ed-fi/gradeLevelDescriptors"] == ["Read"]
    assert "/ed-fi/crisisEvents" in operations or "/ed-fi/parents" in operations
    assert "/ed-fi/localAccounts" not in operations


def test_services_are_listed_by_their_names(db: None) -> None:
    sandbox = new_token()

    assert introspect(sandbox, f"token={sandbox}").json()["services"] == [
        {"service": "identity", "operations": ["Create", "Read", "Update"]}
    ]


def test_a_token_of_a_client_without_its_claim_set_is_401(token: str) -> None:
    client_of_token(token)
    Application.objects.update(claim_set=ClaimSet.objects.get(name="EdFiSandbox"))
    ClaimSet.objects.get(name="SISVendor").delete()

    response = introspect(token, f"token={token}")

    problem = response.json()
    assert response.status_code == 401
    assert problem.pop("correlationId")
    assert problem == {
        "detail": "The client's ClaimSet was not found.",
        "type": "urn:ed-fi:api:unauthorized",
        "title": "Unauthorized",
        "status": 401,
        "errors": [],
    }


@pytest.mark.parametrize("member", ["token", "Token", "TOKEN"])
def test_json_is_accepted_with_the_member_in_any_case(token: str, member: str) -> None:
    response = introspect(token, f'{{"{member}": "{token}"}}', "application/json")

    assert response.json()["active"] is True


@pytest.mark.parametrize("body", ["", "token=", "other=1", "{}", '{"token": 1}', '{"token"', "[1]", "\xff\xfe"])
def test_a_body_without_a_token_is_refused(token: str, body: str) -> None:
    response = introspect(token, body)

    assert response.status_code == 400
    assert response.json()["detail"] == "An invalid token was provided"
    assert response.json()["errors"] == ["The token was not present, or was not processable."]


def test_the_token_of_another_client_cannot_be_introspected(token: str) -> None:
    response = introspect(token, "token=of-another")

    assert response.status_code == 400
    assert response.json()["errors"] == ["The Authorization header token does not match the token in the request body."]


def test_introspection_requires_a_valid_token(db: None) -> None:
    assert introspect("unknown", "token=unknown").status_code == 401
    assert Client().post(ADDRESS).status_code == 401
