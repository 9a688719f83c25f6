"""Where clients get their external identity: the command, the admin and the management API; and `refuse_tokens`."""

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.core.management import CommandError
from django.test import Client
from django.utils import timezone
from pytest_django import Settings

from edfi_api.core.security.clients import create_client, recognise_client
from edfi_api.core.security.credentials import Credentials
from edfi_api.core.security.models import ApiClient, Application, RefusedTokens
from edfi_api.core.security.requests.authentication import client_of_token
from tests.core.security.federation.answers import status
from tests.core.security.federation.conftest import Accept
from tests.core.security.federation.identity_provider import CLIENT, IdentityProvider
from tests.features.management_api.managing import Managing, created_id, token_of
from tests.features.management_api.serving import serve_management_api
from tests.support.logs import Log
from tests.support.management_commands import printed

pytestmark = pytest.mark.django_db
PAGES = "/admin/security/apiclient/"


def run(*arguments: str) -> str:
    return printed(*arguments).out


@pytest.fixture
def accepted(provider: IdentityProvider, accept: Accept) -> IdentityProvider:
    accept(provider)
    return provider


def test_a_client_is_made_with_an_identity_and_without_secret(accepted: IdentityProvider, log: Log) -> None:
    arguments = ["Lakeside SIS", "--claim-set=SISVendor", "--education-organization-id=255901", "--format=json"]
    made = json.loads(run("create_api_client", *arguments, "--external", accepted.issuer, CLIENT))

    assert made["secret"] is None
    assert status(accepted.token()) == 200
    assert [(line["event"], line.get("issuer"), line.get("external_client")) for line in log.audit[:2]] == [
        ("client created", None, None),
        ("external identity set", accepted.issuer, CLIENT),
    ]
    [listed] = json.loads(run("list_api_clients", "--format=json"))
    assert listed["externalIdentity"] == {"issuer": accepted.issuer, "value": CLIENT}
    assert f"{CLIENT} of {accepted.issuer}" in run("list_api_clients")
    # A secret can be given to it.
    run("rotate_secret", made["key"])
    assert status(accepted.token()) == 200


def test_another_client_of_an_application_with_an_identity(accepted: IdentityProvider) -> None:
    create_client("Lakeside SIS", "SISVendor", [255901])

    run("create_api_client", "By provider", "--application=Lakeside SIS", "--external", accepted.issuer, CLIENT)

    assert status(accepted.token()) == 200
    assert Application.objects.get().api_clients.count() == 2


@pytest.mark.parametrize(
    ("issuer", "value", "message"),
    [
        ("https://elsewhere.example.org", "x", "issuer: MEADOWLARK_OIDC_ISSUERS has no such issuer; it has: http"),
        (None, "", "external client: This field cannot be blank"),
        (None, " ", "external client: A name is one line"),
        (None, "x" * 256, "external client: Ensure this value has at most 255 characters"),
        (None, CLIENT, "External identity with this Issuer and Client already exists"),
    ],
)
def test_an_identity_that_cannot_be(accepted: IdentityProvider, issuer: str | None, value: str, message: str) -> None:
    run("create_api_client", "First", "--claim-set=SISVendor", "--external", accepted.issuer, CLIENT)

    with pytest.raises(CommandError, match=message.replace("(", r"\(")):
        run("create_api_client", "Second", "--claim-set=SISVendor", "--external", issuer or accepted.issuer, value)
    assert ApiClient.objects.count() == 1


def form(client: ApiClient, *identity: str, **more: Any) -> dict[str, Any]:
    """Return the form of a client's page, with issuer and value of its identity."""
    values = dict(zip(("issuer", "value"), identity, strict=False))
    initial = int(hasattr(client, "external_identity"))
    return {
        "name": client.name,
        "application": client.application_id,
        "is_active": "on",
        "external_identity-TOTAL_FORMS": 1 if identity or initial else 0,
        "external_identity-INITIAL_FORMS": initial,
        **({"external_identity-0-api_client": client.pk} if initial else {}),
        **{f"external_identity-0-{name}": value for name, value in (values | more).items()},
    }


def test_an_identity_is_set_changed_and_removed_in_the_admin(accepted: IdentityProvider, superuser: Client) -> None:
    create_client("Lakeside SIS", "SISVendor", [255901])
    client = ApiClient.objects.get()
    page = f"{PAGES}{client.pk}/change/"
    assert f'<option value="{accepted.issuer}">' in superuser.get(page).content.decode()

    assert superuser.post(page, form(client, accepted.issuer, CLIENT)).status_code == 302
    assert status(accepted.token()) == 200

    client = ApiClient.objects.get()
    assert superuser.post(page, form(client, accepted.issuer, "renamed")).status_code == 302
    assert status(accepted.token(client_id="renamed")) == 200
    found = superuser.get(PAGES, {"q": "renamed"}).content.decode()
    assert "Lakeside SIS</a></th>" in found
    assert f"renamed of {accepted.issuer}</td>" in found

    client = ApiClient.objects.get()
    assert superuser.post(page, form(client, accepted.issuer, "renamed", DELETE="on")).status_code == 302
    assert status(accepted.token(client_id="renamed", n=1)) == 401


def test_the_admin_refuses_an_identity_that_another_client_has(accepted: IdentityProvider, superuser: Client) -> None:
    run("create_api_client", "First", "--claim-set=SISVendor", "--external", accepted.issuer, CLIENT)
    create_client("Second", "SISVendor")
    second = ApiClient.objects.get(name="Second")

    response = superuser.post(f"{PAGES}{second.pk}/change/", form(second, accepted.issuer, CLIENT))

    assert "External identity with this Issuer and Client already exists" in response.content.decode()


def test_an_issuer_that_is_no_longer_accepted_is_still_shown(
    accepted: IdentityProvider, superuser: Client, settings: Settings
) -> None:
    run("create_api_client", "First", "--claim-set=SISVendor", "--external", accepted.issuer, CLIENT)
    settings.EDFI_API = {**settings.EDFI_API, "OIDC_ISSUERS": ""}

    page = superuser.get(f"{PAGES}{ApiClient.objects.get().pk}/change/").content.decode()

    assert f"{accepted.issuer} (not in the settings)" in page
    assert status(accepted.token()) == 401


@pytest.fixture
def management(accepted: IdentityProvider, settings: Settings) -> Managing:
    serve_management_api(settings)
    return Managing(token_of("operator"))


@pytest.fixture
def body(management: Managing) -> dict[str, Any]:
    """Return the body of a POST to `apiClients`."""
    store = management.post("/v3/dataStores", {"dataStoreType": "a", "name": "b", "connectionString": None}).json()
    create_client("Lakeside SIS", "SISVendor")
    application = Application.objects.get().pk
    return {"applicationId": application, "name": "New", "isApproved": True, "dataStoreIds": [store["id"]]}


def test_the_member_of_the_management_api(
    accepted: IdentityProvider, management: Managing, body: dict[str, Any]
) -> None:
    identity = {"issuer": accepted.issuer, "value": CLIENT}
    made = management.post("/v3/apiClients", body | {"externalIdentity": identity})
    id_ = created_id(made)

    def shown() -> Any:
        return management.get(f"/v3/apiClients/{made.json()['key']}").json()["externalIdentity"]

    assert shown() == identity
    # It is recognised; its data store has no database.
    assert status(accepted.token()) == 503
    # Programs that do not know the member leave it as it is.
    assert management.put(f"/v3/apiClients/{id_}", body | {"id": id_}).status_code == 204
    assert shown() == identity
    other = identity | {"value": "other"}
    assert management.put(f"/v3/apiClients/{id_}", body | {"id": id_, "externalIdentity": other}).status_code == 204
    assert shown() == other
    assert management.put(f"/v3/apiClients/{id_}", body | {"id": id_, "externalIdentity": None}).status_code == 204
    assert shown() is None


NEEDS_BOTH = {"ExternalIdentity": ["'External Identity' must have an issuer and a value."]}


@pytest.mark.parametrize(
    ("identity", "errors"),
    [
        ({"issuer": "x"}, NEEDS_BOTH),
        ({"issuer": "x", "value": 7}, NEEDS_BOTH),
        ({"issuer": "x", "value": "\0"}, NEEDS_BOTH),
        ({"issuer": "x", "value": "y", "more": "z"}, NEEDS_BOTH),
        ("x", {"$": ["The request body contains invalid JSON."]}),
    ],
)
def test_a_malformed_member(management: Managing, body: dict[str, Any], identity: Any, errors: Any) -> None:
    response = management.post("/v3/apiClients", body | {"externalIdentity": identity})

    assert (response.status_code, response.json()["validationErrors"]) == (400, errors)


def test_a_member_with_an_unknown_issuer_and_one_that_is_taken(
    accepted: IdentityProvider, management: Managing, body: dict[str, Any]
) -> None:
    identity = {"issuer": accepted.issuer, "value": CLIENT}
    unknown = management.post("/v3/apiClients", body | {"externalIdentity": identity | {"issuer": "https://x.example"}})
    assert unknown.json()["validationErrors"] == {
        "ExternalIdentity.Issuer": [f"MEADOWLARK_OIDC_ISSUERS has no such issuer; it has: {accepted.issuer}."]
    }
    created_id(management.post("/v3/apiClients", body | {"externalIdentity": identity}))

    taken = management.post("/v3/apiClients", body | {"name": "Newer", "externalIdentity": identity})

    assert (taken.status_code, taken.json()["validationErrors"]) == (
        400,
        {"ExternalIdentity": ["Another API client has this external identity."]},
    )
    assert not ApiClient.objects.filter(name="Newer").exists()


def test_a_client_without_secret_gets_no_token_here(accepted: IdentityProvider) -> None:
    run("create_api_client", "First", "--claim-set=SISVendor", "--external", accepted.issuer, CLIENT)
    client = ApiClient.objects.get()

    assert recognise_client(Credentials(client.client_id, "")) is None
    assert recognise_client(Credentials(client.client_id, client.client_secret)) is None


def _at(seconds: int) -> dict[str, int]:
    now = int(timezone.now().timestamp())
    return {"iat": now + seconds, "exp": now + 600}


def test_tokens_that_were_issued_before_a_time_are_refused(
    accepted: IdentityProvider, known: ApiClient, log: Log
) -> None:
    old, new = accepted.token(**_at(-100)), accepted.token(**_at(-10))
    assert (status(old), status(new)) == (200, 200)

    before = (datetime.now(UTC) - timedelta(seconds=50)).replace(microsecond=0)
    refused = run("refuse_tokens", "--issuer", accepted.issuer, "--before", before.isoformat())
    client_of_token.cache_clear()

    assert (status(old), status(new)) == (401, 200)
    assert (
        refused
        == f"Tokens of all clients that {accepted.issuer} issued before {before:%Y-%m-%dT%H:%M:%SZ} are refused.\n"
    )
    [done] = [line for line in log.audit if line["event"] == "tokens refused"]
    assert (done["issuer"], done["before"], done["by"]) == (accepted.issuer, before.isoformat(), "command")
    assert [line["reason"] for line in log.audit if line["event"] == "denied"] == ["issued too early"]

    run("refuse_tokens", "--issuer", accepted.issuer)
    client_of_token.cache_clear()
    assert status(new) == 401


def test_only_the_tokens_of_one_client_are_refused(accepted: IdentityProvider, known: ApiClient) -> None:
    run("refuse_tokens", "--issuer", accepted.issuer, "--client", "another", "--before", "now")
    assert status(accepted.token(**_at(-100))) == 200

    run("refuse_tokens", "--issuer", accepted.issuer, "--client", CLIENT, "--before", "now")
    client_of_token.cache_clear()

    assert status(accepted.token(**_at(-100))) == 401
    assert RefusedTokens.objects.count() == 2


def test_tokens_of_an_unknown_issuer_or_of_the_future_cannot_be_refused(accepted: IdentityProvider) -> None:
    with pytest.raises(CommandError, match=r'has no issuer "https://x\.example"; it has: http'):
        run("refuse_tokens", "--issuer", "https://x.example")
    with pytest.raises(CommandError, match="2999-01-01T00:00:00 is in the future"):
        run("refuse_tokens", "--issuer", accepted.issuer, "--before", "2999-01-01")
    assert not RefusedTokens.objects.exists()
