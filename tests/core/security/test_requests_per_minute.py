"""MEADOWLARK_REQUESTS_PER_MINUTE."""

from typing import Any

import pytest
from django.test import Client

from edfi_api.core.security.rate_limits import RequestsPerMinute
from edfi_api.web.viewsets.edfi_view import EdFiView
from tests.support.factories import STUDENT


@pytest.fixture
def limited(settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two requests per minute."""
    settings.EDFI_API = settings.EDFI_API | {"REQUESTS_PER_MINUTE": 2}
    monkeypatch.setattr(EdFiView, "throttle_classes", [RequestsPerMinute])


def test_further_requests_of_the_client_are_refused_until_there_is_time(limited: None, api: Any) -> None:
    written = api.post("/data/ed-fi/students", STUDENT)
    read = api.get("/data/ed-fi/students")

    refused = api.get("/data/ed-fi/students")

    assert (written.status_code, read.status_code, refused.status_code) == (201, 200, 429)
    assert refused.json()["type"] == "urn:ed-fi:api:too-many-requests"
    assert 25 <= int(refused.headers["Retry-After"]) <= 30


def test_public_documents_are_not_limited(limited: None, client: Client, db: None) -> None:
    assert [client.get("/metadata").status_code for _ in range(3)] == [200, 200, 200]
