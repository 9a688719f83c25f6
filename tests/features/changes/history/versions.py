"""The versions of a document, as written and read by clients."""

from typing import Any

from tests.conftest import ApiTestClient


def history(api: ApiTestClient, path: str, query: str = "") -> Any:
    """The versions of the document at this path."""
    response = api.get(path.replace("/data/", "/history/v1/") + query)
    assert response.status_code == 200, response.content
    return response.json()


def update(api: ApiTestClient, path: str, body: dict[str, Any]) -> None:
    """Write another version of the document at this path."""
    response = api.put(path, body | {"id": path.rpartition("/")[2]})
    assert response.status_code == 204, response.content
