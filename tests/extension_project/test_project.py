"""The project is sound: its tests prove nothing otherwise."""

from pathlib import Path

import pytest

from edfi_api.metaed.compiler import check_projects
from tests.surface.test_published_surface import DATA_STANDARDS, STANDARDS

LAKE_COUNTY = Path(__file__).parent / "lake_county"


@pytest.mark.parametrize("standard", STANDARDS)
def test_nothing_is_wrong_with_it_whichever_standard_it_extends(standard: str) -> None:
    model, problems = check_projects([DATA_STANDARDS / standard, LAKE_COUNTY])

    assert model is not None
    assert [str(problem) for problem in problems if str(LAKE_COUNTY) in problem.place.file] == []
