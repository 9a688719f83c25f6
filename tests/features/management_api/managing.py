"""A client of the management API, and what it sends."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from edfi_api.features.management_api import clients
from edfi_api.features.management_api.scopes import Scope
from tests.conftest import http

SECRET = "Only-for-tests.0123456789.abcdefghijklm"
VENDOR = {
    "company": "Lakeside",
    "namespacePrefixes": "uri://lakeside.example",
    "contactName": "Mae Ortiz",
    "contactEmailAddress": "mae@lakeside.example",
}
APPLICATION = {"applicationName": "Roster", "claimSetName": "EdFiSandbox", "educationOrganizationIds": [255901]}
PROFILE_XML = """<Profile name="Portal">
  <!-- kept -->
  <Resource name="Student">
    <ReadContentType memberSelection="IncludeOnly"><Property name="firstName"/></ReadContentType>
  </Resource>
</Profile>"""


@dataclass
class Managing:
    """Sends JSON to the management API with a token; paths begin behind its path. The headers go with each request."""

    token: str = ""
    base: str = "/config"
    headers: Mapping[str, str] | None = None

    def request(self, method: str, path: str, body: Any = None, **headers: str) -> Any:
        content = {} if body is None else {"data": body, "content_type": "application/json"}
        if self.token:
            headers = {"HTTP_AUTHORIZATION": f"Bearer {self.token}"} | headers
        return getattr(http(), method)(self.base + path, headers=self.headers, **content, **headers)

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
        form = {"data": text, "content_type": "application/x-www-form-urlencoded"}
        return http().post(self.base + path, headers=self.headers, **form, **headers)


def token_of(key: str, *scopes: Scope) -> str:
    """A token of a new management client."""
    clients.create(key, key, scopes or [Scope.FULL_ACCESS], secret=SECRET, by="tests")
    client = clients.client_of_key(key)
    assert client is not None
    issued = clients.issue_token(client, "")
    assert issued is not None
    return issued.token


def created_id(response: Any) -> int:
    """The id at the end of the address of a new item."""
    assert response.status_code in (200, 201), response.content
    return int(response.headers["Location"].rpartition("/")[2])
