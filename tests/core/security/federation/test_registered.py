"""Tokens of an identity provider for API clients with an external identity: what is accepted, and every refusal."""

import json
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import rsa
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pytest_django import Settings

from edfi_api.core.security.models import ApiClient
from tests.conftest import ApiTestClient, http
from tests.core.security.federation.answers import refusal, status
from tests.core.security.federation.conftest import Accept, external_client
from tests.core.security.federation.identity_provider import (
    AUDIENCE,
    CLIENT,
    IdentityProvider,
    SigningKey,
    ec_key,
    ed_key,
    rsa_key,
)
from tests.support.examples import examples
from tests.support.logs import Log


def test_a_token_is_that_of_the_client_with_this_identity(provider: IdentityProvider, known: ApiClient) -> None:
    api = ApiTestClient(provider.token())

    assert (
        api.post(
            "/schoolYearTypes", {"schoolYear": 2099, "currentSchoolYear": False, "schoolYearDescription": "x"}
        ).status_code
        == 201
    )
    described = (
        http()
        .post(
            "/oauth/token_info",
            {"token": api.token},
            content_type="application/json",
            headers={"Authorization": f"Bearer {api.token}"},
        )
        .json()
    )
    assert (described["client_id"], described["claim_set"]) == (known.client_id, {"name": "EdFiSandbox"})
    assert described["namespace_prefixes"] == ["uri://ed-fi.org"]
    assert [each["education_organization_id"] for each in described["education_organizations"]] == [255901]


def test_requests_are_logged_with_our_key_of_the_client(provider: IdentityProvider, known: ApiClient, log: Log) -> None:
    ApiTestClient(provider.token()).get("/students?nonsense=1")

    assert log.requests[-1]["client"] == known.client_id


@pytest.mark.parametrize(
    ("key", "published"),
    [
        (rsa_key(), {}),
        (rsa_key(), {"alg": None, "use": None}),
        (ec_key(), {"alg": None}),
        (ed_key(), {}),
    ],
    ids=["RS256", "RSA for any algorithm", "ES256", "EdDSA"],
)
def test_each_kind_of_key(
    provider: IdentityProvider, known: ApiClient, accept: Accept, key: SigningKey, published: dict[str, Any]
) -> None:
    accept(provider, algorithms=["RS256", "PS256", "ES256", "EdDSA"])
    provider.published = [key.public(**published)]

    assert status(provider.token(key)) == 200


def test_an_rsa_key_without_algorithm_is_good_for_pss(
    provider: IdentityProvider, known: ApiClient, accept: Accept
) -> None:
    accept(provider, algorithms=["PS256"])
    provider.published = [rsa_key().public(alg=None)]

    assert status(provider.token(rsa_key(), {"alg": "PS256"})) == 200


@pytest.mark.parametrize("typ", ["at+jwt", "JWT", "jwt", "application/at+jwt", None])
def test_types_of_access_tokens(provider: IdentityProvider, known: ApiClient, typ: str | None) -> None:
    assert status(provider.token(header={"typ": typ})) == 200


@pytest.mark.parametrize(
    "claims",
    [
        {"client_id": None, "azp": CLIENT},
        {"client_id": None, "appid": CLIENT},
        {"client_id": None, "sub": CLIENT},
        {"azp": "another", "sub": "another"},
        {"aud": ["account", AUDIENCE]},
    ],
)
def test_where_client_and_audience_may_stand(
    provider: IdentityProvider, known: ApiClient, claims: dict[str, Any]
) -> None:
    assert status(provider.token(**claims)) == 200


def test_the_claim_with_the_client_can_be_named(
    provider: IdentityProvider, known: ApiClient, accept: Accept, log: Log
) -> None:
    accept(provider, claims={"client": 'ext."https://example.org/app".id'})

    assert status(provider.token(client_id="other", ext={"https://example.org/app": {"id": CLIENT}})) == 200
    assert refusal(provider.token(), log) == ("claims", provider.issuer)


def test_of_several_audiences_one_is_enough(provider: IdentityProvider, known: ApiClient, accept: Accept) -> None:
    accept(provider, audience=["api://edfi", AUDIENCE])

    assert status(provider.token(aud="api://edfi")) == 200


def _far(seconds: int) -> int:
    return int(time.time()) + seconds


def _with_payload_of(token: str, other: str) -> str:
    header, _, signature = token.split(".")
    return ".".join([header, other.split(".")[1], signature])


def _with_public_key_as_secret(idp: IdentityProvider) -> str:
    """What a library accepts that lets the token choose between signatures and HMAC."""
    secret = str(ec_key().public()).encode()
    return jwt.encode(idp.claims(), secret, "HS256", headers={"kid": "ec"})


def _with_header(token: str, **members: Any) -> str:
    header = jwt.get_unverified_header(token) | members
    return ".".join([_encoded(header), *token.split(".")[1:]])


REFUSALS: dict[str, tuple[str, Callable[[IdentityProvider], str]]] = {
    "of another audience": ("wrong audience", lambda idp: idp.token(aud="https://other.example.org")),
    "without audience": ("wrong audience", lambda idp: idp.token(aud=None)),
    "expired": ("expired", lambda idp: idp.token(iat=_far(-700), exp=_far(-100))),
    "not yet valid": ("not yet valid", lambda idp: idp.token(nbf=_far(100))),
    "issued in the future": ("not yet valid", lambda idp: idp.token(iat=_far(100))),
    "signed by another key of the same id": ("bad signature", lambda idp: idp.token(ec_key("x"), {"kid": "ec"})),
    "changed after signing": ("bad signature", lambda idp: _with_payload_of(idp.token(), idp.token(sub="other"))),
    "by an unknown key": ("unknown key", lambda idp: idp.token(ec_key("unheard of"))),
    "without signature": ("algorithm", lambda idp: jwt.encode(idp.claims(), None, "none")),
    "of an algorithm that is not accepted": ("algorithm", lambda idp: idp.token(rsa_key())),
    "signed by the public key as a secret": ("algorithm", _with_public_key_as_secret),
    "an ID token by its type": ("type", lambda idp: idp.token(header={"typ": "ID"})),
    "of an unknown type": ("type", lambda idp: idp.token(header={"typ": "logout+jwt"})),
    "an ID token of Keycloak": ("type", lambda idp: idp.token(header={"typ": "JWT"}, typ="ID")),
    "an ID token by its nonce": ("type", lambda idp: idp.token(nonce="n")),
    "an ID token by its hash of an access token": ("type", lambda idp: idp.token(at_hash="h")),
    "good for too long": ("lifetime", lambda idp: idp.token(exp=_far(3700))),
    "without expiry": ("claims", lambda idp: idp.token(exp=None)),
    "without time of issue": ("claims", lambda idp: idp.token(iat=None)),
    "with a text as expiry": ("claims", lambda idp: idp.token(exp="soon")),
    "with an endless expiry": ("claims", lambda idp: idp.token(exp=float("inf"))),
    "without client": ("claims", lambda idp: idp.token(client_id=None)),
    "with a list of clients": ("claims", lambda idp: idp.token(client_id=[CLIENT])),
    "with an object as client": ("claims", lambda idp: idp.token(client_id={"id": CLIENT})),
    "with a client that breaks lines": ("claims", lambda idp: idp.token(client_id="a\nb")),
    "with a client that PostgreSQL cannot store": ("claims", lambda idp: idp.token(client_id="a\0b")),
    "with a very long client": ("claims", lambda idp: idp.token(client_id="a" * 256)),
    "of a client without identity": ("no such client", lambda idp: idp.token(client_id="District-SIS")),
    "with a critical extension": ("header", lambda idp: _with_header(idp.token(), crit=["b64"], b64=True)),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSALS)
def test_a_refused_token(case: str, provider: IdentityProvider, known: ApiClient, log: Log) -> None:
    reason, make = REFUSALS[case]

    assert refusal(make(provider), log) == (reason, provider.issuer)


def test_a_key_of_another_type_than_the_header_says(
    provider: IdentityProvider, known: ApiClient, accept: Accept, log: Log
) -> None:
    accept(provider, algorithms=["RS256", "ES256"])
    ec_token = provider.token()
    rs_header = provider.token(rsa_key(), {"kid": "ec"}).split(".")[0]

    assert refusal(".".join([rs_header, *ec_token.split(".")[1:]]), log) == ("algorithm", provider.issuer)


def test_keys_that_the_token_brings_along_are_not_used(provider: IdentityProvider, known: ApiClient, log: Log) -> None:
    with IdentityProvider(published=[ec_key("evil").public()]) as evil:
        brought = {"jku": f"{evil.issuer}/jwks", "x5u": f"{evil.issuer}/x5u", "jwk": ec_key("evil").public()}
        token = provider.token(ec_key("evil"), brought)

        assert refusal(token, log) == ("unknown key", provider.issuer)
        assert evil.requests == []


def test_a_private_key_and_one_for_encryption_verify_nothing(
    provider: IdentityProvider, known: ApiClient, log: Log
) -> None:
    provider.published = [
        ec_key().public(use="enc"),
        {"kty": "oct", "k": "c2VjcmV0", "kid": "ec", "alg": "HS256"},
        "key",
    ]

    assert refusal(provider.token(), log) == ("unknown key", provider.issuer)


@pytest.mark.filterwarnings("ignore::jwt.warnings.InsecureKeyLengthWarning")
def test_a_short_rsa_key_is_refused(provider: IdentityProvider, known: ApiClient, accept: Accept, log: Log) -> None:
    accept(provider, algorithms=["RS256"])
    short = SigningKey(rsa.generate_private_key(public_exponent=65537, key_size=1024), "short", "RS256")  # noqa: S505
    provider.published = [short.public()]

    assert refusal(provider.token(short), log) == ("unknown key", provider.issuer)


@pytest.mark.parametrize("header", [{"crit": ["exp"]}, {"crit": "b64"}, {"kid": 7}])
def test_a_header_that_cannot_be_understood(
    provider: IdentityProvider, known: ApiClient, log: Log, header: dict[str, Any]
) -> None:
    assert refusal(_with_header(provider.token(), **header), log) == ("header", None)


def test_an_unknown_issuer(provider: IdentityProvider, known: ApiClient, log: Log) -> None:
    token = provider.token(iss="https://elsewhere.example.org")

    assert refusal(token, log) == ("unknown issuer", None)
    assert provider.requests == []


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=3), inner, max_size=2),
    max_leaves=4,
)
HEADERS = st.dictionaries(st.sampled_from(["alg", "kid", "typ", "crit", "b64", "jku", "jwk"]), JSON)
CLAIMS = st.dictionaries(st.sampled_from(["aud", "exp", "iat", "nbf", "client_id", "sub", "jti", "nonce"]), JSON)


@settings(max_examples=examples(25), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(header=HEADERS, claims=CLAIMS, is_signed=st.booleans())
def test_no_token_is_an_error_of_the_server(
    provider: IdentityProvider, known: ApiClient, header: dict[str, Any], claims: dict[str, Any], is_signed: bool
) -> None:
    """Neither a header of a stranger nor claims that the provider itself signs."""
    parts = [_encoded({"alg": "ES256", "kid": "ec"} | header), _encoded(provider.claims() | claims)]
    signed = jwt.api_jws.encode(_decoded(parts[1]), ec_key().private, "ES256", headers={"kid": "ec"})
    token = signed if is_signed else ".".join([*parts, "c2ln"])

    assert status(token) in (200, 401)


def _encoded(content: Any) -> str:
    return jwt.utils.base64url_encode(json.dumps(content).encode()).decode()


def _decoded(part: str) -> bytes:
    return jwt.utils.base64url_decode(part)


@pytest.mark.parametrize("token", ["a.b.c", "..", "e30.e30.e30", "bnVsbA.bnVsbA.x", "W10.W10.W10"])
def test_what_is_no_token_at_all(provider: IdentityProvider, known: ApiClient, log: Log, token: str) -> None:
    assert refusal(token, log)[0] == "unknown issuer"


def test_deeply_nested_json_is_refused(provider: IdentityProvider, known: ApiClient, log: Log) -> None:
    nested = jwt.utils.base64url_encode(b"[" * 2500).decode()

    assert refusal(f"{nested}.{nested}.x", log)[0] == "unknown issuer"


def test_a_long_token_is_refused_before_it_is_read(provider: IdentityProvider, known: ApiClient, log: Log) -> None:
    assert status(provider.token(pad="x" * 4000)) == 200
    assert refusal(provider.token(pad="x" * 8000), log) == ("too long", None)


def test_an_inactive_client(provider: IdentityProvider, known: ApiClient, log: Log) -> None:
    ApiClient.objects.update(is_active=False)

    assert refusal(provider.token(), log) == ("client inactive", provider.issuer)


def test_a_client_that_has_expired(provider: IdentityProvider, known: ApiClient, log: Log) -> None:
    ApiClient.objects.update(expires_at=timezone.now())

    assert refusal(provider.token(), log) == ("client inactive", provider.issuer)


def test_tokens_of_this_server_are_as_good_as_before(
    provider: IdentityProvider, known: ApiClient, api_without_check: ApiTestClient
) -> None:
    assert api_without_check.get("/students").status_code == 200
    assert status(provider.token()) == 200


def test_two_issuers_with_a_client_of_the_same_name(
    provider: IdentityProvider, known: ApiClient, accept: Accept, log: Log
) -> None:
    with IdentityProvider(published=[ec_key("theirs").public(kid="ec")]) as second:
        accept(provider, {"issuer": second.issuer, "audience": AUDIENCE, "algorithms": ["ES256"]})
        theirs = SigningKey(ec_key("theirs").private, "ec", "ES256")
        assert refusal(second.token(theirs), log) == ("no such client", second.issuer)

        external_client(second, CLIENT, "Other SIS")

        assert status(second.token(theirs)) == 200
        assert status(provider.token()) == 200
        # Each issuer's keys are good for its own tokens only.
        assert refusal(provider.token(theirs), log) == ("bad signature", provider.issuer)
        assert refusal(second.token(ec_key()), log) == ("bad signature", second.issuer)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> datetime:
    """The time stands still, for PyJWT too."""
    now = datetime.fromtimestamp(int(time.time()), UTC)
    _stop_at(now, monkeypatch)
    return now


def _stop_at(moment: datetime, monkeypatch: pytest.MonkeyPatch) -> None:
    class Stopped(datetime):
        @classmethod
        def now(cls, tz: Any = None) -> datetime:
            return moment

    monkeypatch.setattr("jwt.api_jwt.datetime", Stopped)
    monkeypatch.setattr(timezone, "now", lambda: moment)
    monkeypatch.setattr("edfi_api.core.security.requests.authentication.time", moment.timestamp)


@pytest.mark.parametrize(
    ("claims", "accepted"),
    [
        ({"exp": -29}, True),
        ({"exp": -30}, False),
        ({"exp": -31}, False),
        ({"nbf": 30}, True),
        ({"nbf": 31}, False),
        ({"iat": 30}, True),
        ({"iat": 31}, False),
    ],
)
def test_clocks_may_differ_by_the_skew(
    provider: IdentityProvider, known: ApiClient, clock: datetime, claims: dict[str, int], accepted: bool
) -> None:
    at = int(clock.timestamp())
    absolute = {"iat": at - 100, "exp": at + 100} | {name: at + seconds for name, seconds in claims.items()}

    assert (status(provider.token(**absolute)) == 200) is accepted


def test_a_token_is_remembered(provider: IdentityProvider, known: ApiClient) -> None:
    token = provider.token()
    status(token)

    with CaptureQueriesContext(connection) as queries:
        assert status(token) == 200
    assert queries.captured_queries
    assert not [each["sql"] for each in queries if "security_apiclient" in each["sql"]]


def test_a_remembered_token_expires_on_time(
    provider: IdentityProvider, known: ApiClient, settings: Settings, monkeypatch: pytest.MonkeyPatch, log: Log
) -> None:
    settings.EDFI_API = {**settings.EDFI_API, "TOKEN_CACHE_SECONDS": 100_000}
    token = provider.token(exp=_far(60), iat=_far(-3000))
    assert status(token) == 200

    _travel(monkeypatch, seconds=100)

    assert refusal(token, log) == ("expired", provider.issuer)


def test_a_disabled_client_is_noticed_within_the_time_set(
    provider: IdentityProvider, known: ApiClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    token = provider.token()
    assert status(token) == 200
    ApiClient.objects.update(is_active=False)

    _travel(monkeypatch, seconds=11)

    assert status(token) == 401


def _travel(monkeypatch: pytest.MonkeyPatch, seconds: float) -> None:
    _stop_at(timezone.now() + timedelta(seconds=seconds), monkeypatch)


def test_metrics(provider: IdentityProvider, known: ApiClient, settings: Settings) -> None:
    began = time.time()
    token = provider.token()
    assert [status(token), status(token), status(provider.token(aud="other"))] == [200, 200, 401]
    assert status(provider.token(iss="https://elsewhere.example.org")) == 401

    shown = http().get("/metrics").content.decode()

    assert f'meadowlark_oidc_validations_total{{issuer="{provider.issuer}"}} 2.0' in shown
    assert f'meadowlark_oidc_refusals_total{{issuer="{provider.issuer}",reason="wrong audience"}} 1.0' in shown
    assert 'meadowlark_oidc_refusals_total{issuer="",reason="unknown issuer"}' in shown
    [line] = [
        line
        for line in shown.splitlines()
        if line.startswith("meadowlark_oidc_keys_fetched_seconds{") and provider.issuer in line
    ]
    assert began - 1 <= float(line.rpartition(" ")[2]) <= time.time()
