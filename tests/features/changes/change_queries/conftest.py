"""A client of change queries."""

import pytest

from tests.conftest import ApiTestClient


class ChangeQueries:
    """Sends change queries; a window is given by its first and last version."""

    def __init__(self, api: ApiTestClient) -> None:
        self.api = api

    def newest(self) -> int:
        return self.api.get("/changeQueries/v1/availableChangeVersions").json()["newestChangeVersion"]

    def live(self, endpoint, first="", last="", query=""):
        return self._answer(f"/{endpoint}", first, last, query)

    def deletes(self, endpoint, first="", last="", query=""):
        return self._answer(f"/{endpoint}/deletes", first, last, query)

    def key_changes(self, endpoint, first="", last="", query=""):
        return self._answer(f"/{endpoint}/keyChanges", first, last, query)

    def _answer(self, path, first, last, query):
        response = self.api.get(f"{path}?minChangeVersion={first}&maxChangeVersion={last}&{query}")
        assert response.status_code == 200, response.content
        return response.json()


@pytest.fixture
def changes(api) -> ChangeQueries:
    return ChangeQueries(api)
