"""The provider that other tests use does what it is for: tokens of machines, and logins of people with their groups."""

import hashlib
from collections.abc import Iterator
from urllib.parse import parse_qs, urlsplit

import httpx
import jwt
import pytest

from tests.support.oidc.provider import Provider, Settings, ec_key, machine, rsa_key, running_provider, web_application

CALLBACK = "http://127.0.0.1:8000/admin/callback"


@pytest.fixture(scope="module")
def provider(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Provider]:
    provided = Settings(
        keys=[rsa_key("one")],
        clients=[machine("district-sis"), web_application("meadowlark-admin", CALLBACK)],
        claims_of_clients={"district-sis": {"educationOrganizationIds": "255901"}},
        people={"maria": {"name": "Maria Ortiz", "email": "maria@example.org", "groups": ["stewards"]}},
    )
    with running_provider(tmp_path_factory.mktemp("provider"), provided) as running:
        yield running


def test_a_machine_gets_a_signed_access_token(provider: Provider) -> None:
    token = provider.token("district-sis")

    claims = jwt.decode(
        token, _key(provider, token), algorithms=["RS256"], audience="https://edfi.example.org", issuer=provider.issuer
    )
    assert jwt.get_unverified_header(token) == {"alg": "RS256", "typ": "at+jwt", "kid": "one"}
    assert (claims["client_id"], claims["educationOrganizationIds"]) == ("district-sis", "255901")
    assert claims["exp"] - claims["iat"] == 600


def test_a_person_logs_in_with_groups(provider: Provider) -> None:
    with httpx.Client(base_url=provider.issuer) as browser:
        code = _code_of(browser, "maria")
        form = {"grant_type": "authorization_code", "code": code, "redirect_uri": CALLBACK, "code_verifier": "v" * 43}
        tokens = browser.post("/token", data=form, auth=("meadowlark-admin", "of-tests")).json()
        userinfo = browser.get("/me", headers={"Authorization": f"Bearer {tokens['access_token']}"}).json()

    claims = jwt.decode(
        tokens["id_token"], _key(provider, tokens["id_token"]), algorithms=["RS256"], audience="meadowlark-admin"
    )
    assert (claims["sub"], claims["groups"], claims["email"]) == ("maria", ["stewards"], "maria@example.org")
    assert userinfo["groups"] == ["stewards"]


def test_other_keys_are_there_after_a_restart(provider: Provider) -> None:
    before = provider.settings.keys
    provider.restart(keys=[ec_key("two")], algorithm="ES256")

    header = jwt.get_unverified_header(provider.token("district-sis"))
    provider.restart(keys=before, algorithm="RS256")

    assert (header["alg"], header["kid"]) == ("ES256", "two")


def _key(provider: Provider, token: str) -> jwt.PyJWK:
    keys = httpx.get(f"{provider.issuer}/jwks").json()
    return jwt.PyJWKSet.from_dict(keys)[jwt.get_unverified_header(token)["kid"]]


def _code_of(browser: httpx.Client, login: str) -> str:
    """Logs a person in through the pages of the provider; returns the code of its last redirect."""
    challenge = jwt.utils.base64url_encode(hashlib.sha256(b"v" * 43).digest()).decode()
    query = {
        "client_id": "meadowlark-admin",
        "response_type": "code",
        "scope": "openid profile email groups",
        "redirect_uri": CALLBACK,
        "code_challenge": challenge,
        "code_challenge_method": "S256",
    }
    response = browser.get("/auth", params=query)
    for form in ({"prompt": "login", "login": login, "password": "any"}, {"prompt": "consent"}):
        page = response.headers["location"]
        response = browser.post(page, data=form)
        response = browser.get(response.headers["location"])
    back = urlsplit(response.headers["location"])
    assert f"{back.scheme}://{back.netloc}{back.path}" == CALLBACK
    return parse_qs(back.query)["code"][0]
