"""A client that sends batches, as a fixture."""

import pytest

from tests.web.batch.batch_client import BatchClient


@pytest.fixture
def batch(api) -> BatchClient:
    """A client of the sandbox; bodies and rows must agree at the end of the test."""
    return BatchClient(api.token)
