"""Each error that the page about the demo district lists occurs exactly once."""

from collections.abc import Callable
from typing import Any

import pytest

from edfi_api.features.loading.demo_district.mistakes import MISTAKES
from tests.features.loading.demo_district.conftest import district_of
from tests.features.loading.demo_district.mistakes import SEARCHES, Found, listed
from tests.support.serving import OTHERS_MARKED


@pytest.fixture(scope="module", params=OTHERS_MARKED)
def found(request: pytest.FixtureRequest) -> Found:
    """All documents except the examples, which belong to school 1008."""
    bodies = district_of(request.param).bodies
    return {
        name.resource: [body for body in several if "604822" not in str(body)]
        for name, several in bodies.items()
        if name.resource.startswith(("Student", "Staff", "Grade"))
    }


@pytest.mark.parametrize(
    "search", SEARCHES, ids=[mistake.description.rstrip(".").replace(" ", "_") for mistake in MISTAKES]
)
def test_each_error_occurs_once(found: Found, search: Callable[[Found], Any]) -> None:
    assert len(search(found)) == 1


def test_the_page_lists_them() -> None:
    assert [description for description, _ in listed()] == [mistake.description for mistake in MISTAKES]
