"""District 1 with schools 11 and 12, and district 2 with school 21."""

import pytest

from tests.core.security.strategies.scenario import Scenario


@pytest.fixture
def scenario(api, documents):
    found = Scenario(api, documents)
    found.district(1)
    found.district(2)
    found.school(11, 1)
    found.school(12, 1)
    found.school(21, 2)
    return found
