"""One API client with its credentials, and the two requests that matter: ask for a token, use it."""

from base64 import b64encode
from collections.abc import Callable, Iterator
from urllib.parse import urlencode

import pytest
from django.http import HttpResponse
from django.test import Client

from edfi_api.security.clients import Credentials, create_client
from edfi_api.security.tokens import client_of_token

Ask = Callable[..., HttpResponse]


@pytest.fixture(autouse=True)
def _no_remembered_tokens() -> Iterator[None]:
    client_of_token.cache_clear()
    yield
    client_of_token.cache_clear()


@pytest.fixture
def credentials(db: None) -> Credentials:
    return create_client("Lakeside SIS", "SISVendor", [255901, 255902], ["uri://ed-fi.org", "uri://lakeside.example"])


@pytest.fixture
def basic_header(credentials: Credentials) -> str:
    return basic(f"{credentials.key}:{credentials.secret}")


@pytest.fixture
def ask_for_token(client: Client) -> Ask:
    """POST a form, by default one that only names the grant, to the token endpoint."""

    def post(authorization: str | None = None, **form: str) -> HttpResponse:
        return client.post(
            "/oauth/token",
            urlencode({"grant_type": "client_credentials"} | form),
            content_type="application/x-www-form-urlencoded",
            headers={"Authorization": authorization} if authorization is not None else {},
        )

    return post


@pytest.fixture
def token(ask_for_token: Ask, basic_header: str) -> str:
    return ask_for_token(basic_header).json()["access_token"]


@pytest.fixture
def who_am_i(client: Client) -> Ask:
    """GET the protected route."""

    def get(authorization: str | None = None) -> HttpResponse:
        return client.get("/who-am-i", headers={"Authorization": authorization} if authorization is not None else {})

    return get


def basic(pair: str) -> str:
    """The header that carries `key:secret`."""
    return "Basic " + b64encode(pair.encode()).decode()
