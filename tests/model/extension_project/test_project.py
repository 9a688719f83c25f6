"""The project compiles without problems."""

import re

import pytest

from edfi_api.common.conf import BUNDLED_STANDARDS
from edfi_api.model.metaed.compiler import check_projects
from tests.support.serving import LAKE_COUNTY, STANDARDS

# Addresses of staff members are not members of Staff in 6.1.
_WITHOUT_EFFECT = {"6.1": ["'Staff' has no common 'Address'; the extension is without effect"]}


@pytest.mark.parametrize("standard", STANDARDS)
def test_the_project_has_no_problems_but_what_a_standard_lacks(standard: str) -> None:
    model, problems = check_projects([BUNDLED_STANDARDS / standard, LAKE_COUNTY])

    assert model is not None
    own = [str(problem) for problem in problems if str(LAKE_COUNTY) in problem.place.file]
    assert [re.findall("warning: (.*)", text) for text in own] == [[text] for text in _WITHOUT_EFFECT.get(standard, [])]
