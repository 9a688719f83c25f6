"""POST /oauth/token: accepted forms of requests, answers and errors."""

import json
from base64 import b64encode
from io import StringIO
from typing import Any

import pytest
from django.core.management import call_command
from django.db import OperationalError, connection
from django.test import Client
from django.utils import timezone
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from oauth2_provider.models import AccessToken

from edfi_api.core.security.credentials import Credentials
from edfi_api.core.security.models import ApiClient
from edfi_api.core.security.requests.authentication import client_of_token
from tests.core.security.conftest import Send, basic
from tests.support.examples import examples

WRONG_SECRET = [
    "The key or the secret is wrong, or the client was disabled. Both are sent as Basic credentials, or as client_id "
    "and client_secret in the form.",
    "A secret is shown only once. The operator of the server can make another: manage.py rotate_secret NAME.",
]

pytestmark = [
    pytest.mark.django_db,
    pytest.mark.urls("tests.core.security.urls"),
    pytest.mark.usefixtures("_without_limits"),
]
FORM = "application/x-www-form-urlencoded"
in_any_way = settings(
    max_examples=examples(50),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)


@pytest.fixture
def _without_limits(settings: Any) -> None:
    settings.EDFI_API = {**settings.EDFI_API, "TOKENS_PER_MINUTE": 0, "TOKEN_REQUESTS_PER_MINUTE": 0}


def test_a_basic_header_gets_a_token(request_token: Send, basic_header: str) -> None:
    response = request_token(basic_header)

    answer = response.json()
    assert response.status_code == 200
    assert list(answer) == ["access_token", "expires_in", "token_type"]
    assert answer["expires_in"] == 1800
    assert answer["token_type"] == "bearer"
    assert len(answer["access_token"]) >= 30
    assert response.headers["Cache-Control"] == "no-store"
    assert response.headers["Content-Type"] == "application/json"


def test_credentials_in_the_form_get_a_token(request_token: Send, credentials: Credentials) -> None:
    response = request_token(client_id=credentials.key, client_secret=credentials.secret)

    assert response.status_code == 200
    assert response.json()["token_type"] == "bearer"


def test_a_json_body_gets_a_token(client: Client, credentials: Credentials) -> None:
    body = {
        "grant_type": "client_credentials",
        "client_id": credentials.key,
        "client_secret": credentials.secret,
        "scope": None,
        "audience": ["unknown members do not matter"],
    }

    response = client.post("/oauth/token", json.dumps(body), content_type="application/json; charset=utf-8")

    assert response.status_code == 200
    assert list(response.json()) == ["access_token", "expires_in", "token_type"]


def test_a_basic_header_goes_with_a_json_body(client: Client, basic_header: str) -> None:
    body = b'{"grant_type": "client_credentials", "client_id": "", "client_secret": ""}'

    response = client.post(
        "/oauth/token", body, content_type="application/json", headers={"Authorization": basic_header}
    )

    assert response.status_code == 200


@pytest.mark.parametrize("path", ["/oauth/token", "/oauth/token/", "/OAuth/Token", "/oauth/token?from=somewhere"])
def test_paths_are_accepted_as_clients_write_them(client: Client, basic_header: str, path: str) -> None:
    response = client.post(
        path, "grant_type=client_credentials", content_type=FORM, headers={"Authorization": basic_header}
    )

    assert response.status_code == 200


def test_components_of_the_basic_header_may_be_url_encoded(request_token: Send, credentials: Credentials) -> None:
    ApiClient.objects.update(client_id="district.sis-1")

    response = request_token(basic(f"district%2Esis%2D1:{credentials.secret}"))

    assert response.status_code == 200


def test_the_name_of_the_scheme_is_case_insensitive(request_token: Send, basic_header: str) -> None:
    assert request_token(basic_header.replace("Basic", "bASIC")).status_code == 200


def test_the_body_may_repeat_the_key_of_the_header(
    request_token: Send, basic_header: str, credentials: Credentials
) -> None:
    assert request_token(basic_header, client_id=credentials.key).status_code == 200


def test_a_body_without_content_type_is_read_as_a_form(client: Client, basic_header: str) -> None:
    response = client.generic(
        "POST", "/oauth/token", b"grant_type=client_credentials", "", headers={"Authorization": basic_header}
    )

    assert response.status_code == 200


def test_each_request_gets_its_own_token(request_token: Send, basic_header: str) -> None:
    first, second = (request_token(basic_header).json()["access_token"] for _ in range(2))

    assert first != second


def test_a_scope_of_the_clients_own_organization_is_echoed(request_token: Send, basic_header: str) -> None:
    response = request_token(basic_header, scope="255902")

    assert response.status_code == 200
    assert response.json()["scope"] == "255902"


def test_a_scope_may_be_a_number_in_json(client: Client, basic_header: str) -> None:
    response = client.post(
        "/oauth/token",
        b'{"grant_type": "client_credentials", "scope": 255902}',
        content_type="application/json",
        headers={"Authorization": basic_header},
    )

    assert response.json()["scope"] == "255902"


@pytest.mark.parametrize("scope", ["read", "255901 255902", "-255901", "255901.0", "²", "9" * 30])
def test_a_scope_that_is_no_number_is_refused(request_token: Send, basic_header: str, scope: str) -> None:
    response = request_token(basic_header, scope=scope)

    assert response.status_code == 400
    assert response.json() == {
        "error": "invalid_scope",
        "error_description": "The supplied 'scope' was not a number (it should be an EducationOrganizationId that is"
        " explicitly associated with the client).",
    }


def test_a_scope_of_another_organization_is_refused(request_token: Send, basic_header: str) -> None:
    response = request_token(basic_header, scope="255903")

    assert response.status_code == 400
    assert response.json() == {
        "error": "invalid_scope",
        "error_description": "The client is not explicitly associated with the EducationOrganizationId specified in"
        " the requested 'scope'.",
    }


@pytest.mark.parametrize(
    "header",
    [
        "Basic",
        "Basic ",
        "Basic not-base64",
        "Basic a2V5OnNlY3JldA",  # no padding
        "Basic bm8gY29sb24=",  # "no colon"
        "Basic //86//8=",  # not UTF-8
        "Basic a2V5OnNlY3JldA== again",
        "Basic ü",
    ],
)
def test_a_malformed_header_is_an_invalid_request(request_token: Send, header: str) -> None:
    response = request_token(header)

    assert response.status_code == 400
    assert response.json()["error"] == "invalid_request"


@pytest.mark.parametrize("header", ["Bearer abc", "Digest username=x", "nonsense"])
def test_another_scheme_is_an_invalid_client(request_token: Send, header: str) -> None:
    response = request_token(header)

    assert response.status_code == 401
    assert response.json()["error"] == "invalid_client"
    assert response.headers["WWW-Authenticate"] == 'Basic realm="Ed-Fi API"'
    [hint] = response.json()["hints"]
    assert "Key and secret were not looked at." in hint


@pytest.mark.parametrize(
    "form", [{}, {"client_id": "key"}, {"client_secret": "secret"}, {"client_id": "", "client_secret": "secret"}]
)
def test_missing_credentials_are_an_invalid_request_with_401(request_token: Send, form: dict[str, str]) -> None:
    response = request_token(**form)

    assert response.status_code == 401
    assert response.json()["error"] == "invalid_request"


def test_credentials_in_header_and_body_are_an_invalid_client(
    request_token: Send, basic_header: str, credentials: Credentials
) -> None:
    response = request_token(basic_header, client_id=credentials.key, client_secret=credentials.secret)

    assert response.status_code == 401
    assert response.json()["error"] == "invalid_client"


def test_another_key_in_the_body_is_an_invalid_client(request_token: Send, basic_header: str) -> None:
    response = request_token(basic_header, client_id="someone-else")

    assert response.status_code == 401
    assert response.json()["error"] == "invalid_client"


@pytest.mark.parametrize("pair", ["{key}:wrong", "unknown:{secret}", "{key}%00:{secret}"])
def test_wrong_credentials_are_an_invalid_client(request_token: Send, credentials: Credentials, pair: str) -> None:
    response = request_token(basic(pair.format(key=credentials.key, secret=credentials.secret)))

    assert response.status_code == 401
    assert response.json() == {"error": "invalid_client", "hints": WRONG_SECRET}
    assert not AccessToken.objects.exists()


@pytest.mark.parametrize("pair", ["{key}:", ":"])
def test_an_empty_secret_is_called_missing(request_token: Send, credentials: Credentials, pair: str) -> None:
    response = request_token(basic(pair.format(key=credentials.key)))

    assert response.status_code == 401
    assert response.json()["error"] == "invalid_client"
    assert response.json()["hints"] == [
        "The secret of the Basic credentials was not sent, or empty; perhaps a variable is. Send key and secret as "
        "Basic credentials in the header Authorization, or as client_id and client_secret in the form."
    ]


def test_the_stored_hash_does_not_work_as_a_secret(request_token: Send, credentials: Credentials) -> None:
    stored = ApiClient.objects.get().client_secret

    response = request_token(client_id=credentials.key, client_secret=stored)

    assert response.status_code == 401


def test_an_inactive_client_gets_no_token(request_token: Send, basic_header: str) -> None:
    ApiClient.objects.update(is_active=False)

    response = request_token(basic_header)

    assert response.status_code == 401
    assert response.json() == {"error": "invalid_client", "hints": WRONG_SECRET}


@pytest.mark.parametrize(
    "grant_type",
    ["", "password", "authorization_code", "refresh_token", "urn:ietf:params:oauth:grant-type:device_code"],
)
def test_another_grant_is_unsupported(request_token: Send, basic_header: str, grant_type: str) -> None:
    response = request_token(basic_header, grant_type=grant_type)

    assert response.status_code == 400
    assert response.json()["error"] == "unsupported_grant_type"


@pytest.mark.parametrize(
    ("content_type", "body"),
    [
        ("application/json", b'{"grant_type": '),
        ("application/json", b" "),
        ("application/json", b"[]"),
        ("application/json", b"\xff\xfe"),
        ("application/json", b'{"grant_type": 1}'),
        ("application/json", b'{"grant_type": "\\ud800 lone"}'),
        ("application/json", b'{"deep": ' + b"[" * 8000),
        (FORM, b"grant_type=client_credentials&grant_type=password"),
        (FORM, b"\x80\x81"),
        (FORM, "&".join(f"p{number}=1" for number in range(1000)).encode()),
        ("multipart/form-data; boundary=x", b"--x--"),
        ("text/xml", b"<grant_type/>"),
        ("application/octet-stream", b"\x00"),
    ],
)
def test_a_malformed_body_is_an_invalid_request(
    client: Client, basic_header: str, content_type: str, body: bytes
) -> None:
    response = client.post("/oauth/token", body, content_type=content_type, headers={"Authorization": basic_header})

    assert response.status_code == 400
    assert response.json()["error"] == "invalid_request"
    assert response.headers["Cache-Control"] == "no-store"


def test_a_too_long_body_is_refused_with_413(client: Client, basic_header: str) -> None:
    body = b"grant_type=client_credentials&padding=" + b"x" * 20_000_000

    response = client.post("/oauth/token", body, content_type=FORM, headers={"Authorization": basic_header})

    assert response.status_code == 413
    assert response.json()["error"] == "invalid_request"


@pytest.mark.parametrize("method", ["GET", "HEAD", "PUT", "PATCH", "DELETE", "OPTIONS"])
def test_other_methods_are_not_allowed(client: Client, method: str) -> None:
    response = client.generic(method, "/oauth/token")

    assert response.status_code == 405
    assert response.headers["Allow"] == "POST"
    assert response.headers["Content-Type"] == "application/json"


def test_an_unreachable_database_is_temporarily_unavailable(request_token: Send, basic_header: str) -> None:
    def refuse(*_: object) -> None:
        raise OperationalError("connection refused")

    with connection.execute_wrapper(refuse):
        response = request_token(basic_header)

    assert response.status_code == 503
    assert response.json()["error"] == "temporarily_unavailable"


def test_neither_token_nor_secret_is_stored(token: str, credentials: Credentials) -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT to_jsonb(t)::text FROM oauth2_provider_accesstoken t")
        stored_token = cursor.fetchone()[0]
        cursor.execute("SELECT to_jsonb(c)::text FROM security_apiclient c")
        stored_client = cursor.fetchone()[0]

    assert token not in stored_token
    assert credentials.secret not in stored_client


def test_cleartokens_removes_expired_tokens(request_token: Send, basic_header: str) -> None:
    request_token(basic_header)
    AccessToken.objects.update(expires=timezone.now())
    valid = request_token(basic_header).json()["access_token"]
    warnings = StringIO()

    call_command("cleartokens", stderr=warnings)

    assert client_of_token(valid) is not None
    assert AccessToken.objects.count() == 1
    assert warnings.getvalue() == ""


def test_the_hash_of_a_secret_is_cheap_and_salted(credentials: Credentials) -> None:
    algorithm, rounds, salt, _ = ApiClient.objects.get().client_secret.split("$")

    assert (algorithm, rounds) == ("pbkdf2_sha256", "1000")
    assert len(salt) >= 20


@pytest.mark.parametrize("content_type", [FORM, "application/json", ""])
@in_any_way
@given(body=st.binary(max_size=200) | st.text(max_size=100).map(lambda text: text.encode(errors="surrogatepass")))
def test_any_body_is_answered(client: Client, basic_header: str, content_type: str, body: bytes) -> None:
    response = client.generic("POST", "/oauth/token", body, content_type, headers={"Authorization": basic_header})

    assert response.status_code in (400, 401)
    assert response.json()["error"] in ("invalid_request", "invalid_client", "unsupported_grant_type")


any_json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda children: st.lists(children, max_size=3) | st.dictionaries(st.text(), children, max_size=3),
    max_leaves=5,
)


@in_any_way
@given(
    body=st.fixed_dictionaries(
        {"grant_type": st.just("client_credentials") | any_json},
        optional={"client_id": any_json, "client_secret": any_json, "scope": any_json},
    )
)
def test_any_json_member_is_answered(client: Client, credentials: Credentials, body: dict[str, object]) -> None:
    response = client.post("/oauth/token", json.dumps(body), content_type="application/json")

    assert response.status_code in (400, 401)
    assert "error" in response.json()


@in_any_way
@given(pair=st.binary(max_size=60))
def test_any_basic_header_is_answered(client: Client, credentials: Credentials, pair: bytes) -> None:
    header = "Basic " + b64encode(pair).decode()

    response = client.post(
        "/oauth/token", "grant_type=client_credentials", content_type=FORM, headers={"Authorization": header}
    )

    assert response.status_code in (400, 401)
    assert response.json()["error"] in ("invalid_request", "invalid_client")
