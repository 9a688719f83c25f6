"""`connect/…`: registration, tokens of both kinds, introspection, revocation; scopes; what is open and what is not."""

from base64 import b64encode

import pytest
from django.urls import Resolver404, resolve
from django.utils import timezone

from edfi_api.core.security.models import ApiClient
from edfi_api.core.security.requests.authentication import client_of_token
from edfi_api.features.management_api import clients
from edfi_api.features.management_api.models import ManagementClient, ManagementToken
from edfi_api.features.management_api.scopes import Scope
from tests.conftest import DATA, http
from tests.features.management_api.managing import SECRET, VENDOR, Managing, token_of

SEE_ERRORS = "The request could not be processed. See 'errors' for details."
REGISTRATION = {"ClientId": "admin-app", "ClientSecret": SECRET, "DisplayName": "Admin%20App"}


def test_without_the_setting_there_is_no_management_api() -> None:
    with pytest.raises(Resolver404):
        resolve("/config/v3/vendors")


def test_registration_is_closed(anonymous: Managing) -> None:
    answer = anonymous.form("/connect/register", ClientId="")

    assert answer.status_code == 403
    assert (answer.json()["detail"], answer.json()["errors"]) == (SEE_ERRORS, ["Registration is disabled."])


def test_a_registered_client_has_full_access(anonymous: Managing, configured) -> None:
    configured(MANAGEMENT_REGISTRATION=True)

    registered = anonymous.form("/connect/register", **REGISTRATION)
    again = anonymous.form("/connect/register", **REGISTRATION | {"ClientId": "ADMIN-APP"})
    token = anonymous.form(
        "/connect/token/4410/2027", client_id="admin-app", client_secret=SECRET, grant_type="client_credentials"
    )

    assert (registered.status_code, registered.json()) == (
        200,
        {"title": "Registered client admin-app successfully.", "status": 200},
    )
    assert again.status_code == 400
    assert again.json()["validationErrors"] == {
        "ClientId": ["Client with the same Client Id already exists. Please provide different Client Id."]
    }
    assert list(token.json()) == ["access_token", "expires_in", "token_type", "scope"]
    assert (token.json()["expires_in"], token.json()["token_type"]) == (1800, "Bearer")
    assert Managing(token.json()["access_token"]).get("/v3/vendors").json() == []
    assert SECRET not in str(ManagementClient.objects.values_list("secret"))


@pytest.mark.parametrize("secret", ["Short.1", "no-upper-case-letters-0123456789-abc", "N0SpecialCharacters" * 3])
def test_weak_secrets_and_empty_members_are_refused(anonymous: Managing, configured, secret: str) -> None:
    configured(MANAGEMENT_REGISTRATION=True)

    answer = anonymous.form("/connect/register", clientid="x", clientsecret=secret)

    assert answer.json()["validationErrors"] == {
        "ClientSecret": [
            "Client secret must contain at least one lowercase letter, one uppercase letter, one number, and one "
            "special character, and must be 32 to 128 characters long."
        ],
        "DisplayName": ["'Display Name' must not be empty."],
    }


def _token_request(anonymous: Managing, **changes: str):
    form = {"client_id": "operator", "client_secret": SECRET, "grant_type": "client_credentials"} | changes
    return anonymous.form("/connect/token", **form)


def test_wrong_token_requests(anonymous: Managing) -> None:
    empty = anonymous.form("/connect/token", client_id="")
    other = _token_request(anonymous, grant_type="password")
    json = anonymous.post("/connect/token", {})

    assert empty.json()["validationErrors"] == {
        "client_id": ["'client_id' must not be empty."],
        "client_secret": ["'client_secret' must not be empty."],
        "grant_type": ["'grant_type' must not be empty."],
    }
    assert (other.status_code, other.json()["detail"]) == (400, "The specified grant type is not supported.")
    assert (json.status_code, json.json()["title"]) == (415, "Unsupported Media Type")


@pytest.mark.parametrize("is_uniform", [True, False])
def test_unknown_id_and_wrong_secret_look_the_same_unless_a_setting_says_otherwise(
    management: Managing, configured, application: dict, is_uniform: bool
) -> None:
    configured(UNIFORM_CLIENT_ERRORS=is_uniform)
    anonymous = Managing()
    unknown = _token_request(anonymous, client_id="nobody")
    wrong = _token_request(anonymous, client_secret="wrong")
    of_api_client = _token_request(anonymous, client_id=application["key"], client_secret="wrong")

    invalid = "invalid_client. Invalid client or Invalid client credentials"
    known = invalid if is_uniform else "unauthorized_client. Invalid client or Invalid client credentials"
    assert [(each.status_code, each.json()["errors"]) for each in (unknown, wrong, of_api_client)] == [
        (401, [invalid]),
        (401, [known]),
        (401, [known]),
    ]
    assert unknown.json()["detail"] == SEE_ERRORS


@pytest.mark.parametrize("secret", ["right", "wrong"])
def test_a_client_that_is_disabled_or_expired_is_answered_as_an_unknown_one(
    management: Managing, configured, application: dict, secret: str
) -> None:
    configured(UNIFORM_CLIENT_ERRORS=False)
    clients.create("former", "Former", [Scope.FULL_ACCESS], secret=SECRET, by="tests")
    clients.disable(ManagementClient.objects.get(key="former"), by="tests")

    def errors(key: str, right: str) -> list[str]:
        answer = _token_request(Managing(), client_id=key, client_secret=right if secret == "right" else "wrong")
        assert answer.status_code == 401
        return answer.json()["errors"]

    ApiClient.objects.update(is_active=False)
    disabled = errors(application["key"], application["secret"])
    ApiClient.objects.update(is_active=True, expires_at=timezone.now())
    expired = errors(application["key"], application["secret"])

    invalid = ["invalid_client. Invalid client or Invalid client credentials"]
    assert [disabled, expired, errors("former", SECRET)] == [invalid] * 3


def test_a_disabled_client_gets_no_token_and_loses_its_own(management: Managing) -> None:
    clients.disable(ManagementClient.objects.get(), by="tests")

    assert management.get("/v3/vendors").status_code == 401
    assert _token_request(Managing()).status_code == 401


def test_api_clients_get_tokens_for_data_here(management: Managing, application: dict) -> None:
    basic = b64encode(f"{application['key']}:{application['secret']}".encode()).decode()
    answer = http().post(
        "/config/connect/token",
        "grant_type=client_credentials&scope=edfisandbox",
        content_type="application/x-www-form-urlencoded",
        HTTP_AUTHORIZATION=f"Basic {basic}",
    )

    token = answer.json()["access_token"]
    assert http().get(f"{DATA}/students", HTTP_AUTHORIZATION=f"Bearer {token}").status_code == 200
    refused = Managing(token).get("/v3/vendors")
    assert refused.status_code == 401
    assert refused.json() | {"correlationId": ""} == {
        "detail": "Authentication is required to access this resource.",
        "type": "urn:ed-fi:api:security:authentication",
        "title": "Authentication Failed",
        "status": 401,
        "correlationId": "",
        "validationErrors": {},
        "errors": [],
    }
    assert http().get(f"{DATA}/students", HTTP_AUTHORIZATION=f"Bearer {management.token}").status_code == 401


def test_scopes(management: Managing, application: dict) -> None:
    reader = Managing(token_of("reader", Scope.READ_ONLY))
    server = Managing(token_of("server", Scope.AUTHORIZATION_METADATA))

    assert reader.get("/v3/vendors").status_code == 200
    assert reader.post("/v3/vendors", {}).status_code == 403
    assert server.get("/v3/vendors").status_code == 403
    assert server.get("/v3/apiClients").status_code == 200
    assert server.get(f"/v3/apiClients/{application['key']}").status_code == 200
    denied = server.delete("/v3/apiClients/1")
    assert (denied.status_code, denied.json()["title"], denied.json()["detail"]) == (
        403,
        "Authorization Failed",
        "The authenticated client is not authorized to access this resource.",
    )


def test_a_token_has_the_requested_scopes_that_its_client_has(anonymous: Managing) -> None:
    token_of("operator", Scope.FULL_ACCESS, Scope.READ_ONLY)

    def scope(requested: str) -> str:
        answer = _token_request(anonymous, scope=requested).json()
        introspected = Managing(answer["access_token"]).form("/connect/introspect", token=answer["access_token"])
        assert introspected.json()["scope"] == answer["scope"]
        return answer["scope"]

    both = "edfi_admin_api/full_access edfi_admin_api/readonly_access"
    assert scope("edfi_admin_api/readonly_access,other") == "edfi_admin_api/readonly_access"
    assert scope("edfi_admin_api/readonly_access+edfi_admin_api/full_access") == both
    assert scope("") == both


def test_a_token_with_a_narrower_scope_allows_no_more_than_that(anonymous: Managing) -> None:
    token_of("operator", Scope.FULL_ACCESS, Scope.READ_ONLY, Scope.AUTHORIZATION_METADATA)

    def with_scope(requested: str) -> Managing:
        return Managing(_token_request(anonymous, scope=requested).json()["access_token"])

    reader, server = with_scope(Scope.READ_ONLY), with_scope(Scope.AUTHORIZATION_METADATA)
    assert [reader.get("/v3/vendors").status_code, reader.post("/v3/vendors", VENDOR).status_code] == [200, 403]
    assert [server.get("/v3/dataStores").status_code, server.get("/v3/vendors").status_code] == [200, 403]


@pytest.mark.parametrize("requested", ["other", "edfi_admin_api/full_access", "edfi_admin_api/READONLY_ACCESS"])
def test_scopes_that_the_client_does_not_have_are_refused(anonymous: Managing, requested: str) -> None:
    token_of("operator", Scope.READ_ONLY)

    refused = _token_request(anonymous, scope=requested)

    assert (refused.status_code, refused.json()["type"]) == (400, "urn:ed-fi:api:bad-request")
    assert refused.json()["detail"] == SEE_ERRORS
    assert refused.json()["errors"] == ["invalid_scope. None of the requested scopes is assigned to the client"]
    assert ManagementToken.objects.count() == 1


def test_introspection_and_revocation(management: Managing, application: dict) -> None:
    form = {"client_id": application["key"], "client_secret": application["secret"]}
    of_data = _token_request(Managing(), **form).json()["access_token"]

    described = management.form("/connect/introspect", token=of_data).json()
    assert {name: described[name] for name in ("active", "client_id", "scope", "token_type", "iss")} == {
        "active": True,
        "client_id": application["key"],
        "scope": "EdFiSandbox",
        "token_type": "Bearer",
        "iss": "http://testserver/config",
    }
    assert described["namespacePrefixes"] == "uri://lakeside.example"
    assert described["educationOrganizationIds"] == "255901"
    assert management.form("/connect/introspect", token="unknown").json() == {"active": False}
    assert Managing().form("/connect/introspect", token=of_data).status_code == 401
    missing = management.form("/connect/introspect")
    assert (missing.status_code, missing.json()["detail"]) == (400, "The token parameter is missing.")

    assert Managing().form("/connect/revoke", token=of_data).status_code == 200
    assert http().get(f"{DATA}/students", HTTP_AUTHORIZATION=f"Bearer {of_data}").status_code == 401
    assert Managing().form("/connect/revoke", token=management.token).content == b""
    assert management.get("/v3/vendors").status_code == 401
    client_of_token.cache_clear()


def test_open_addresses_ignore_a_broken_authorization_header(anonymous: Managing) -> None:
    broken = Managing("broken token")

    assert broken.get("/health").content == b"Healthy"
    root = broken.get("/").json()
    assert root["applicationName"] == "Ed-Fi API Configuration Service"
    assert root["specificationVersion"] == "v3"
    assert root["urls"] == {"openApiMetadata": "http://testserver/config/metadata/specifications"}
    assert broken.get("/.well-known/openid-configuration").json()["token_endpoint"] == (
        "http://testserver/config/connect/token"
    )
    assert broken.get("/.well-known/jwks.json").json() == {"keys": []}


def test_every_answer_has_the_headers(anonymous: Managing) -> None:
    answer = anonymous.get("/V3/Vendors/", HTTP_CORRELATIONID="abc-1")

    assert answer.status_code == 401
    assert {name: answer.headers[name] for name in ("Cache-Control", "Referrer-Policy", "TraceId")} == {
        "Cache-Control": "no-store",
        "Referrer-Policy": "no-referrer",
        "TraceId": "abc-1",
    }


def test_other_methods_and_paths(management: Managing) -> None:
    wrong = management.request("patch", "/v3/vendors")
    preflight = Managing().request("options", "/v3/vendors", HTTP_ORIGIN="https://elsewhere.example")
    unknown = management.get("/v3/nothing")

    assert (wrong.status_code, wrong.headers["Allow"]) == (405, "GET, POST, HEAD")
    assert wrong.json()["detail"] == "The request construction was invalid."
    assert preflight.status_code == 204
    assert (unknown.status_code, unknown.json()["detail"]) == (404, "The requested resource could not be found.")
    assert management.request("head", "/v3/vendors").status_code == 200


def test_requests_are_limited_by_client(management: Managing, configured) -> None:
    configured(MANAGEMENT_REQUESTS_PER_MINUTE=1)

    statuses = [management.get("/v3/vendors") for _ in range(2)]

    assert [each.status_code for each in statuses] == [200, 429]
    assert int(statuses[1].headers["Retry-After"]) > 0
