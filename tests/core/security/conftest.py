"""An API client with its credentials, and functions that request a token and use it."""

from base64 import b64encode
from collections.abc import Callable, Iterator
from urllib.parse import urlencode

import pytest
from django.contrib.auth import get_user_model
from django.http import HttpResponse
from django.test import Client

from edfi_api.core.security.clients import create_client
from edfi_api.core.security.credentials import Credentials
from edfi_api.core.security.requests.authentication import client_of_token
from tests.support.admin_users import member

Send = Callable[..., HttpResponse]


@pytest.fixture(autouse=True)
def _no_remembered_tokens() -> Iterator[None]:
    client_of_token.cache_clear()
    yield
    client_of_token.cache_clear()


@pytest.fixture
def superuser(client: Client, db: None) -> Client:
    """Logged in to the admin."""
    client.force_login(get_user_model().objects.create_superuser("operator"))
    return client


@pytest.fixture
def operator(db: None) -> Client:
    """Logged in to the admin, in the group of this name."""
    return member("operator")


@pytest.fixture
def credentials(db: None) -> Credentials:
    return create_client("Lakeside SIS", "SISVendor", [255901, 255902], ["uri://ed-fi.org", "uri://lakeside.example"])


@pytest.fixture
def basic_header(credentials: Credentials) -> str:
    return basic(f"{credentials.key}:{credentials.secret}")


@pytest.fixture
def request_token(client: Client) -> Send:
    """POST a form to the token endpoint, by default only with the grant type."""

    def post(authorization: str | None = None, **form: str) -> HttpResponse:
        return client.post(
            "/oauth/token",
            urlencode({"grant_type": "client_credentials"} | form),
            content_type="application/x-www-form-urlencoded",
            headers={"Authorization": authorization} if authorization is not None else {},
        )

    return post


@pytest.fixture
def token(request_token: Send, basic_header: str) -> str:
    return request_token(basic_header).json()["access_token"]


@pytest.fixture
def get_caller(client: Client) -> Send:
    """GET the protected route."""

    def get(authorization: str | None = None) -> HttpResponse:
        return client.get("/who-am-i", headers={"Authorization": authorization} if authorization is not None else {})

    return get


def basic(pair: str) -> str:
    """The Basic header of `key:secret`."""
    return "Basic " + b64encode(pair.encode()).decode()
