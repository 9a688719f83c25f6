"""Tokens and answers of a provider that are refused, and a provider that is away."""

import base64
import hashlib
import hmac
import json
import socket
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from urllib.parse import parse_qs, urlsplit

import jwt
import pytest
from cryptography.hazmat.primitives import serialization
from django.contrib.auth.models import User
from django.db import connections
from django.http import HttpResponse
from django.test import Client
from pytest_django import Settings

from edfi_api.core.security.admin_groups import make_groups
from edfi_api.site.sign_in import provider as provider_module
from edfi_api.site.sign_in.configuration import authentication_backends
from tests.site.sign_in.conftest import PASSWORD, Configure
from tests.site.sign_in.odd_provider import OddProvider, odd_provider
from tests.support.logs import Log
from tests.support.oidc.provider import ec_key, rsa_key

pytestmark = pytest.mark.django_db

START, CALLBACK = "/admin/login/provider/", "/admin/login/provider/callback/"
METADATA = "/.well-known/openid-configuration"


@pytest.fixture
def odd(configure: Configure, settings: Settings) -> Iterator[OddProvider]:
    with odd_provider() as provider:
        configure(
            SIGN_IN_ISSUER=provider.issuer,
            SIGN_IN_CLIENT_ID="meadowlark-admin",
            SIGN_IN_CLIENT_SECRET="a secret/+%",
            SIGN_IN_GROUPS=(("edfi-data", "steward"),),
            PROVIDER_LOGINS_PER_MINUTE=0,
        )
        settings.AUTHENTICATION_BACKENDS = authentication_backends(settings.EDFI_API)
        yield provider


def begin(client: Client) -> dict[str, str]:
    """State and nonce of a login that was begun."""
    query = parse_qs(urlsplit(client.get(START)["Location"]).query)
    return {name: query[name][0] for name in ("state", "nonce")}


def come_back(client: Client, begun: dict[str, str]) -> HttpResponse:
    return client.get(CALLBACK, {"code": "the-code", "state": begun["state"]})


def now(seconds: int = 0) -> int:
    return int(time.time()) + seconds


def public_pem(odd: OddProvider) -> bytes:
    return (
        jwt.PyJWK(odd.key)
        .key.public_key()
        .public_bytes(serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)
    )


def hmac_token(claims: dict[str, Any], secret: bytes) -> str:
    """PyJWT refuses to take a public key for a secret."""

    def encoded(value: bytes) -> str:
        return base64.urlsafe_b64encode(value).rstrip(b"=").decode()

    head = encoded(json.dumps({"alg": "HS256", "kid": "one"}).encode())
    signed = f"{head}.{encoded(json.dumps(claims).encode())}"
    return f"{signed}.{encoded(hmac.digest(secret, signed.encode(), hashlib.sha256))}"


def test_a_right_token_logs_in(client: Client, odd: OddProvider) -> None:
    begun = begin(client)
    odd.send(odd.claims(begun["nonce"]))

    assert come_back(client, begun)["Location"] == "/admin/"
    assert client.session["_auth_user_id"] == str(User.objects.get(username="maria").pk)
    [(authorization, body)] = [(header, body) for path, header, body in odd.requests if path == "/token"]
    # RFC 6749 §2.3.1: encoded as in a form, then as Basic.
    assert base64.b64decode(authorization.removeprefix("Basic ")) == b"meadowlark-admin:a+secret%2F%2B%25"
    form = parse_qs(body)
    assert (form["code"], form["redirect_uri"]) == (["the-code"], [f"http://testserver{CALLBACK}"])
    assert len(form["code_verifier"][0]) == 64
    assert "client_secret" not in form


def test_a_provider_that_takes_secrets_in_the_form_gets_them_there(client: Client, odd: OddProvider) -> None:
    members = json.loads(odd.answers[METADATA][2])
    odd.answer(METADATA, **members, token_endpoint_auth_methods_supported=["client_secret_post", "private_key_jwt"])
    begun = begin(client)
    odd.send(odd.claims(begun["nonce"]))

    assert come_back(client, begun).status_code == 302
    [(authorization, body)] = [(header, body) for path, header, body in odd.requests if path == "/token"]
    assert authorization == ""
    assert parse_qs(body)["client_secret"] == ["a secret/+%"]


Change = Callable[[OddProvider, dict[str, Any]], None]
WRONG: dict[str, tuple[Change, str]] = {
    "issuer": (lambda odd, mine: odd.send(mine | {"iss": "https://other.example"}), "Invalid issuer"),
    "audience": (lambda odd, mine: odd.send(mine | {"aud": "another-client"}), "Audience doesn't match"),
    "another client of several": (
        lambda odd, mine: odd.send(mine | {"aud": ["meadowlark-admin", "b"], "azp": "b"}),
        "it was issued to another client",
    ),
    "several audiences": (
        lambda odd, mine: odd.send(mine | {"aud": ["meadowlark-admin", "b"]}),
        "it has several audiences, and does not say to which it was issued",
    ),
    "expired": (lambda odd, mine: odd.send(mine | {"exp": now(-31)}), "Signature has expired"),
    "of the future": (lambda odd, mine: odd.send(mine | {"iat": now(60)}), "The token is not yet valid (iat)"),
    "nonce": (lambda odd, mine: odd.send(mine | {"nonce": "of another login"}), "the nonce is that of another login"),
    "no nonce": (
        lambda odd, mine: odd.send({name: mine[name] for name in mine if name != "nonce"}),
        'Token is missing the "nonce" claim',
    ),
    "no subject": (
        lambda odd, mine: odd.send({name: mine[name] for name in mine if name != "sub"}),
        'Token is missing the "sub" claim',
    ),
    "signature": (
        lambda odd, mine: odd.send(mine, jwt.PyJWK(rsa_key("one")).key),
        "Signature verification failed",
    ),
    "unknown key": (lambda odd, mine: odd.send(mine, kid="two"), "the provider has no such key"),
    "kind of key": (
        lambda odd, mine: odd.send(mine, jwt.PyJWK(ec_key("one")).key, "ES256"),
        "the provider has no such key",
    ),
    "no signature": (
        lambda odd, mine: odd.answer("/token", id_token=jwt.encode(mine, "", "none"), access_token="x"),
        "its algorithm is not one with a public key",
    ),
    "public key as a secret": (
        lambda odd, mine: odd.answer("/token", id_token=hmac_token(mine, public_pem(odd)), access_token="x"),
        "its algorithm is not one with a public key",
    ),
    "no token at all": (
        lambda odd, mine: odd.answer("/token", id_token="x.y", access_token="x"),
        "Not enough segments",
    ),
}


@pytest.mark.parametrize("wrong", WRONG)
def test_wrong_tokens_are_refused(client: Client, odd: OddProvider, log: Log, wrong: str) -> None:
    change, reason = WRONG[wrong]
    begun = begin(client)
    change(odd, odd.claims(begun["nonce"]))

    answer = come_back(client, begun)

    assert answer.status_code == 403
    assert "The answer of the identity provider is not valid." in answer.content.decode()
    assert "_auth_user_id" not in client.session
    assert User.objects.count() == 0
    assert log.audit[-1]["reason"] == f"login by provider: ID token: {reason}"


@pytest.mark.parametrize(
    "claims",
    [
        {"groups": None},
        {"groups": 7},
        {"groups": {"edfi-data": True}},
        {"groups": [["edfi-data"], None]},
        {"groups": "EDFI-DATA"},
        {"sub": "x" * 256},
        {"sub": "nul\0"},
    ],
)
def test_odd_claims_give_nothing(client: Client, odd: OddProvider, claims: dict[str, Any]) -> None:
    begun = begin(client)
    odd.send(odd.claims(begun["nonce"], **claims))

    assert come_back(client, begun).status_code == 403
    assert User.objects.count() == 0


@pytest.mark.parametrize(
    ("claims", "name"),
    [
        ({"preferred_username": None}, "user"),
        ({"preferred_username": ["maria"]}, "user"),
        ({"preferred_username": "nul\0 \u202e" + "x" * 200, "email": 7, "given_name": "\0"}, "nul__" + "x" * 136),
    ],
)
def test_odd_names_become_names_of_users(client: Client, odd: OddProvider, claims: dict[str, Any], name: str) -> None:
    begun = begin(client)
    odd.send(odd.claims(begun["nonce"], **claims))

    assert come_back(client, begun).status_code == 302
    assert User.objects.get().username == name


def test_groups_are_found_at_a_path(client: Client, odd: OddProvider, configure: Configure) -> None:
    configure(SIGN_IN_GROUPS_CLAIM='resource_access."edfi.admin".roles')
    begun = begin(client)
    odd.send(odd.claims(begun["nonce"], resource_access={"edfi.admin": {"roles": ["edfi-data"]}}, groups=[]))

    assert come_back(client, begun).status_code == 302


def test_claims_that_the_token_lacks_are_those_of_the_person(client: Client, odd: OddProvider) -> None:
    members = json.loads(odd.answers[METADATA][2])
    odd.answer(METADATA, **members, userinfo_endpoint=f"{odd.issuer}/me")
    odd.answer("/me", sub="maria", groups=["edfi-data"], preferred_username="maria.ortiz")
    begun = begin(client)
    odd.send(odd.claims(begun["nonce"], groups=None, preferred_username=None))

    assert come_back(client, begun).status_code == 302
    assert User.objects.get().username == "maria.ortiz"
    assert ("/me", "Bearer opaque", "") in odd.requests


def test_claims_of_another_person_are_refused(client: Client, odd: OddProvider) -> None:
    members = json.loads(odd.answers[METADATA][2])
    odd.answer(METADATA, **members, userinfo_endpoint=f"{odd.issuer}/me")
    odd.answer("/me", sub="another person", groups=["edfi-data"])
    begun = begin(client)
    odd.send(odd.claims(begun["nonce"], groups=None))

    assert come_back(client, begun).status_code == 503
    assert User.objects.count() == 0


BAD_ANSWERS: dict[str, tuple[int, dict[str, str], bytes]] = {
    "HTML": (200, {"Content-Type": "text/html"}, b"<html>It works!</html>"),
    "an array": (200, {}, b"[]"),
    "deep": (200, {}, b"[" * 100_000),
    "10 MB": (200, {}, b'{"a": "' + b"x" * 10_000_000 + b'"}'),
    "an error": (500, {}, b""),
    "a redirection": (302, {"Location": "https://other.example/"}, b""),
    "bad gzip": (200, {"Content-Encoding": "gzip"}, b"{}"),
    "nothing": (200, {}, b""),
}


@pytest.mark.parametrize("kind", BAD_ANSWERS)
@pytest.mark.parametrize("path", [METADATA, "/token", "/jwks"])
def test_answers_that_are_no_openid_connect_get_a_page(
    client: Client, odd: OddProvider, kind: str, path: str, log: Log
) -> None:
    begun = {"state": ""}
    if path != METADATA:
        begun = begin(client)
        odd.send(odd.claims(begun["nonce"]))
    odd.answers[path] = BAD_ANSWERS[kind]

    answer = client.get(START) if path == METADATA else come_back(client, begun)

    assert answer.status_code == 503
    assert "The identity provider cannot be reached, or its answer is not usable." in answer.content.decode()
    assert log.audit[-1]["reason"].startswith(f"login by provider: provider: {odd.issuer}{path} ")


def test_the_metadata_of_another_issuer_are_refused(client: Client, odd: OddProvider) -> None:
    members = json.loads(odd.answers[METADATA][2])
    odd.answer(METADATA, **members | {"issuer": "https://other.example"})
    assert client.get(START).status_code == 503

    odd.answer(METADATA, **members | {"authorization_endpoint": "javascript:alert(1)"})
    assert client.get(START).status_code == 503

    odd.answer(METADATA, **members)
    assert client.get(START).status_code == 302


def test_a_wrong_secret_is_named_in_the_audit_log(client: Client, odd: OddProvider, log: Log) -> None:
    begun = begin(client)
    odd.answer("/token", status=401, error="invalid_client")

    assert come_back(client, begun).status_code == 503
    assert log.audit[-1]["reason"] == (f"login by provider: provider: {odd.issuer}/token answered 401 invalid_client")
    assert "a secret" not in log.text
    assert "the-code" not in log.text


def test_while_the_provider_is_away_passwords_work(client: Client, configure: Configure, olga: User) -> None:
    with odd_provider() as gone:
        issuer = gone.issuer
    configure(SIGN_IN_ISSUER=issuer, SIGN_IN_GROUPS=(("edfi-data", "steward"),))

    answer = client.get(START)

    assert answer.status_code == 503
    assert 'href="/admin/login/"' in answer.content.decode()
    assert client.get("/admin/login/").status_code == 200
    client.post("/admin/login/", {"username": "olga", "password": PASSWORD})
    assert client.get("/admin/").status_code == 200


def test_a_slow_provider_is_given_up(
    client: Client, odd: OddProvider, monkeypatch: pytest.MonkeyPatch, settings: Settings
) -> None:
    monkeypatch.setattr(provider_module, "_SECONDS", 0.2)
    # The kernel accepts the connection; no program answers.

    with socket.create_server(("127.0.0.1", 0)) as silent:
        settings.EDFI_API = {**settings.EDFI_API, "SIGN_IN_ISSUER": f"http://127.0.0.1:{silent.getsockname()[1]}"}

        assert client.get(START).status_code == 503


def test_who_is_logged_in_works_on_without_the_provider(client: Client, odd: OddProvider) -> None:
    begun = begin(client)
    odd.send(odd.claims(begun["nonce"]))
    come_back(client, begun)
    odd.answers.clear()
    odd.requests.clear()

    assert client.get("/admin/").status_code == 200
    assert odd.requests == []


def test_concurrent_first_logins_make_one_user(transactional_db: None, odd: OddProvider) -> None:
    # An earlier test may have emptied all tables.
    make_groups("default")
    clients = [(client, begin(client)) for client in (Client() for _ in range(4))]
    # Each login has a nonce of its own, so each code needs its own token.
    tokens = iter([odd.token(odd.claims(begun["nonce"])) for _, begun in clients])
    answers = {begun["state"]: token for (_, begun), token in zip(clients, tokens, strict=True)}

    def attempt(each: tuple[Client, dict[str, str]]) -> int:
        client, begun = each
        try:
            return client.get(CALLBACK, {"code": answers[begun["state"]], "state": begun["state"]}).status_code
        finally:
            connections.close_all()

    odd.sends_codes_back = True
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(attempt, clients)) == [302] * 4
    assert [user.username for user in User.objects.all()] == ["maria"]
