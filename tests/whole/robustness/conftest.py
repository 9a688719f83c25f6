"""Requests of hostile or broken clients, and the requirements for every answer."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.test import Client
from hypothesis import HealthCheck, settings

from tests.support.examples import examples
from tests.whole.robustness.real_server import RealServer

# The same inputs in every run; the database is rolled back after the test, not after each input.
anything = settings(
    max_examples=examples(50),
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow, HealthCheck.data_too_large],
)

MEMBERS = ["detail", "type", "title", "status", "correlationId", "validationErrors", "errors"]

Send = Callable[..., Any]


@pytest.fixture
def send(api) -> Send:
    """`send(method, path, body, **META)` checks the answer with `assert_is_an_answer` and returns it."""
    client = Client(raise_request_exception=False, HTTP_AUTHORIZATION=f"Bearer {api.token}")

    def send_and_check(method: str, path: str, body: bytes = b"", **meta: Any) -> Any:
        response = client.generic(method, path, body, **{"content_type": "application/json"} | meta)
        assert_is_an_answer(response, method.upper())
        return response

    return send_and_check


def assert_is_an_answer(response: Any, method: str) -> None:
    """No 5xx, and a refusal is a problem with every member."""
    assert response.status_code < 500, response.content
    if response.status_code < 400:
        return
    assert response["Content-Type"] == "application/problem+json"
    if method != "HEAD":
        problem = response.json()
        hints = problem.pop("hints", ["none"])
        assert 1 <= len(hints) <= 10
        assert max(map(len, hints)) < 500
        assert [name for name in MEMBERS if name in problem] == list(problem)
        assert set(MEMBERS) - set(problem) <= ({"validationErrors"} if response.status_code == 401 else set())
        assert problem["status"] == response.status_code
        assert problem["type"].startswith("urn:ed-fi:api:")


@pytest.fixture(scope="session")
def real_server(tmp_path_factory, prepared_home) -> Iterator[RealServer]:
    with RealServer(prepared_home(tmp_path_factory.mktemp("server") / "home")) as server:
        yield server
