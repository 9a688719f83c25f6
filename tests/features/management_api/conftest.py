"""A server with the management API at `/config`, and a management client with full access."""

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
from pytest_django import Settings

from tests.features.management_api.managing import APPLICATION, VENDOR, Managing, created_id, token_of
from tests.features.management_api.serving import serve_management_api


@pytest.fixture
def configured(settings: Settings) -> Callable[..., None]:
    """Sets settings of the API beside those of a server with the management API."""
    serve_management_api(settings)
    return partial(serve_management_api, settings)


@pytest.fixture
def anonymous(db: None, configured: Callable[..., None]) -> Managing:
    """Sends no token."""
    return Managing()


@pytest.fixture
def management(anonymous: Managing) -> Managing:
    """With full access."""
    return Managing(token_of("operator"))


@pytest.fixture
def vendor(management: Managing) -> int:
    return created_id(management.post("/v3/vendors", VENDOR))


@pytest.fixture
def application(management: Managing, vendor: int) -> dict[str, Any]:
    """Its id, key and secret."""
    return management.post("/v3/applications", APPLICATION | {"vendorId": vendor}).json()
