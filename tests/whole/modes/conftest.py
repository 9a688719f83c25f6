"""`make test-modes` has time for every mode."""

import pytest


@pytest.fixture
def every_mode(request: pytest.FixtureRequest) -> None:
    """Skips the test without `--every-mode`."""
    if not request.config.getoption("--every-mode"):
        pytest.skip("one of the modes that make test-modes starts")
