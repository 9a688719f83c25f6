"""The management API with tokens of an identity provider, where its entry says so."""

from collections.abc import Callable
from typing import Any

import pytest
from pytest_django import Settings

from tests.conftest import ApiTestClient
from tests.core.security.federation.conftest import Accept
from tests.core.security.federation.identity_provider import IdentityProvider, ec_key, send
from tests.features.management_api.managing import VENDOR, Managing, created_id, token_of
from tests.features.management_api.serving import serve_management_api
from tests.support.logs import Log

FULL, READ = "edfi_admin_api/full_access", "edfi_admin_api/readonly_access"
METADATA = "edfi_admin_api/authMetadata_readonly_access"


@pytest.fixture
def provider_manages(db: None, settings: Settings, provider: IdentityProvider, accept: Accept) -> IdentityProvider:
    serve_management_api(settings)
    accept(provider, use=["management"])
    return provider


def test_a_token_with_the_scope_manages(provider_manages: IdentityProvider, log: Log) -> None:
    management = Managing(provider_manages.token(scope=f"openid {FULL}"))

    assert created_id(management.post("/v3/vendors", VENDOR))
    [line] = [line for line in log.audit if line["event"] == "vendor created"]
    assert line["by"] == f"district-sis of {provider_manages.issuer}"


@pytest.mark.parametrize(
    ("claims", "read", "write"),
    [
        ({"scope": FULL}, 200, 201),
        ({"scope": READ}, 200, 403),
        ({"scope": METADATA}, 403, 403),
        ({"scp": f"{READ} {FULL}"}, 200, 201),
        ({"roles": [READ]}, 200, 403),
        ({"scope": "SISVendor"}, 403, 403),
        ({}, 403, 403),
        ({"scope": [7, None]}, 403, 403),
        ({"roles": {FULL: True}}, 403, 403),
    ],
)
def test_what_the_scopes_allow(
    provider_manages: IdentityProvider, claims: dict[str, Any], read: int, write: int
) -> None:
    management = Managing(provider_manages.token(**claims))

    assert management.get("/v3/vendors").status_code == read
    assert management.post("/v3/vendors", VENDOR).status_code == write


def test_roles_may_stand_elsewhere(provider_manages: IdentityProvider, accept: Accept) -> None:
    accept(provider_manages, use=["management"], claims={"scopes": ["realm_access.roles"]})

    assert Managing(provider_manages.token(realm_access={"roles": [READ]})).get("/v3/vendors").status_code == 200
    assert Managing(provider_manages.token(scope=FULL)).get("/v3/vendors").status_code == 403


def test_tokens_for_management_open_no_data_and_the_other_way_round(
    provider_manages: IdentityProvider, accept: Accept, log: Log
) -> None:
    assert ApiTestClient(provider_manages.token(scope=FULL)).get("/students").status_code == 401
    assert log.audit[-1]["reason"] == "unknown issuer"
    accept(provider_manages, use=["data"])

    assert Managing(provider_manages.token(scope=FULL)).get("/v3/vendors").status_code == 401
    assert log.audit[-1]["reason"] == "unknown issuer"


REFUSED: list[tuple[str, Callable[[IdentityProvider], str]]] = [
    ("wrong audience", lambda idp: idp.token(scope=FULL, aud="other")),
    ("expired", lambda idp: idp.token(scope=FULL, iat=1, exp=2)),
    ("unknown key", lambda idp: idp.token(ec_key("other"), scope=FULL)),
    ("unknown issuer", lambda idp: idp.token(scope=FULL, iss="https://elsewhere.example")),
]


@pytest.mark.parametrize(("reason", "make"), REFUSED)
def test_a_refusal_has_its_reason_in_the_audit_log_alone(
    provider_manages: IdentityProvider, log: Log, reason: str, make: Callable[[IdentityProvider], str]
) -> None:
    response = Managing(make(provider_manages)).get("/v3/vendors")

    assert (response.status_code, response.json()["errors"]) == (401, [])
    assert response.json()["detail"] == "Authentication is required to access this resource."
    assert log.audit[-1]["reason"] == reason


def test_without_the_provider_its_tokens_may_be_retried(provider_manages: IdentityProvider) -> None:
    provider_manages.answers["/jwks"] = lambda handler: send(handler, b"", 500)

    response = Managing(provider_manages.token(scope=FULL)).get("/v3/vendors")

    assert (response.status_code, response["Retry-After"]) == (503, "10")
    assert Managing(token_of("operator")).get("/v3/vendors").status_code == 200


def test_requests_of_one_client_are_limited(
    provider_manages: IdentityProvider,
    settings: Any,
) -> None:
    settings.EDFI_API = {**settings.EDFI_API, "MANAGEMENT_REQUESTS_PER_MINUTE": 2}

    def status(client: str, number: int) -> int:
        token = provider_manages.token(scope=READ, client_id=client, n=number)
        return Managing(token).get("/v3/vendors").status_code

    assert [status("one", n) for n in range(3)] == [200, 200, 429]
    assert status("two", 0) == 200
