"""A server with the management API at `/config`, and a management client with full access."""

from collections.abc import Callable
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import pytest

from edfi_api.management_api import clients
from edfi_api.management_api.claim_sets_of_data import claim_set_routes
from edfi_api.management_api.routes import management_routes
from edfi_api.management_api.scopes import Scope
from tests.conftest import http

SECRET = "Only-for-tests.0123456789.abcdefghijklm"


@dataclass
class Managing:
    """Sends JSON to the management API with a token; paths begin behind its path."""

    token: str = ""
    base: str = "/config"

    def request(self, method: str, path: str, body: Any = None, **headers: str) -> Any:
        content = {} if body is None else {"data": body, "content_type": "application/json"}
        if self.token:
            headers = {"HTTP_AUTHORIZATION": f"Bearer {self.token}"} | headers
        return getattr(http(), method)(self.base + path, **content, **headers)

    def get(self, path: str, **headers: str) -> Any:
        return self.request("get", path, **headers)

    def post(self, path: str, body: Any, **headers: str) -> Any:
        return self.request("post", path, body, **headers)

    def put(self, path: str, body: Any = None, **headers: str) -> Any:
        return self.request("put", path, body, **headers)

    def delete(self, path: str, **headers: str) -> Any:
        return self.request("delete", path, **headers)

    def form(self, path: str, **fields: str) -> Any:
        return self.raw_form(path, "&".join(f"{name}={value}" for name, value in fields.items()))

    def raw_form(self, path: str, text: str) -> Any:
        headers = {"HTTP_AUTHORIZATION": f"Bearer {self.token}"} if self.token else {}
        return http().post(self.base + path, text, content_type="application/x-www-form-urlencoded", **headers)


@pytest.fixture(scope="session")
def _urls_with_management() -> ModuleType:
    from meadowlark import urls  # noqa: PLC0415  It compiles the configured surface.

    module = ModuleType("urls_with_management")
    vars(module).update(vars(urls))
    module.urlpatterns = [*urls.urlpatterns, *claim_set_routes(), *management_routes("config")]
    return module


@pytest.fixture
def configured(settings: Any, _urls_with_management: ModuleType) -> Callable[..., None]:
    """Sets settings of the API beside those of a server with the management API."""

    def configure(**others: Any) -> None:
        settings.EDFI_API = {
            **settings.EDFI_API,
            "MANAGEMENT_PATH": "config",
            "TOKEN_REQUESTS_PER_MINUTE": 0,
            "TOKENS_PER_MINUTE": 0,
            "STORE_KEYS": ("a key of tests",),
            **others,
        }

    settings.ROOT_URLCONF = _urls_with_management
    configure()
    return configure


@pytest.fixture
def anonymous(db: None, configured: Callable[..., None]) -> Managing:
    """Sends no token."""
    return Managing()


def token_of(key: str, *scopes: Scope) -> str:
    """A token of a new management client."""
    clients.create(key, key, scopes or [Scope.FULL_ACCESS], secret=SECRET, by="tests")
    client = clients.client_of_key(key)
    assert client is not None
    issued = clients.issue_token(client, "")
    assert issued is not None
    return issued.token


@pytest.fixture
def management(anonymous: Managing) -> Managing:
    """With full access."""
    return Managing(token_of("operator"))


VENDOR = {
    "company": "Lakeside",
    "namespacePrefixes": "uri://lakeside.example",
    "contactName": "Mae Ortiz",
    "contactEmailAddress": "mae@lakeside.example",
}
APPLICATION = {"applicationName": "Roster", "claimSetName": "EdFiSandbox", "educationOrganizationIds": [255901]}


def created_id(response: Any) -> int:
    """The id at the end of the address of a new item."""
    assert response.status_code in (200, 201), response.content
    return int(response.headers["Location"].rpartition("/")[2])


@pytest.fixture
def vendor(management: Managing) -> int:
    return created_id(management.post("/v3/vendors", VENDOR))


@pytest.fixture
def application(management: Managing, vendor: int) -> dict[str, Any]:
    """Its id, key and secret."""
    return management.post("/v3/applications", APPLICATION | {"vendorId": vendor}).json()
