"""What a token stands for, told to its own bearer. Source: security.md §9."""

import time

import pytest
from django.test import Client

from edfi_api.security.clients import create_client

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


def ask(token: str, body: str, content_type: str = FORM):
    return Client().post(ADDRESS, body, content_type=content_type, headers={"Authorization": f"Bearer {token}"})


def test_the_bearer_learns_what_the_token_stands_for(token: str) -> None:
    response = ask(token, f"token={token}")

    assert response.status_code == 200
    assert response["Cache-Control"] == "no-cache"
    info = response.json()
    assert info["active"] is True
    assert info["claim_set"] == {"name": "SISVendor"}
    assert info["namespace_prefixes"] == ["uri://a.example"]
    assert info["education_organizations"] == [{"education_organization_id": 7}, {"education_organization_id": 441}]
    assert time.time() < info["exp"] <= time.time() + 1800


@pytest.mark.parametrize("member", ["token", "Token", "TOKEN"])
def test_json_is_as_good_and_the_member_has_any_case(token: str, member: str) -> None:
    response = ask(token, f'{{"{member}": "{token}"}}', "application/json")

    assert response.json()["active"] is True


@pytest.mark.parametrize("body", ["", "token=", "other=1", "{}", '{"token": 1}', '{"token"', "[1]", "\xff\xfe"])
def test_a_body_without_a_token_is_refused(token: str, body: str) -> None:
    response = ask(token, body)

    assert response.status_code == 400
    assert response.json()["detail"] == "An invalid token was provided"
    assert response.json()["errors"] == ["The token was not present, or was not processable."]


def test_nobody_looks_into_the_token_of_another(token: str) -> None:
    response = ask(token, "token=of-another")

    assert response.status_code == 400
    assert response.json()["errors"] == ["The Authorization header token does not match the token in the request body."]


def test_without_a_valid_token_nothing_is_told(db: None) -> None:
    assert ask("unknown", "token=unknown").status_code == 401
    assert Client().post(ADDRESS).status_code == 401
