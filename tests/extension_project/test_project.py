"""The project compiles without problems."""

import pytest

from edfi_api.conf import BUNDLED_STANDARDS
from edfi_api.model.metaed.compiler import check_projects
from tests.serving import LAKE_COUNTY, STANDARDS


@pytest.mark.parametrize("standard", STANDARDS)
def test_the_project_has_no_problems_with_either_standard(standard: str) -> None:
    model, problems = check_projects([BUNDLED_STANDARDS / standard, LAKE_COUNTY])

    assert model is not None
    assert [str(problem) for problem in problems if str(LAKE_COUNTY) in problem.place.file] == []
