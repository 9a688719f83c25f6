"""Districts of both bundled standards, small ones."""

from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from descriptors.loading.loader import load_bundled
from edfi_api.conf import BUNDLED_STANDARDS
from edfi_api.documents import json_text
from edfi_api.loading.demo_district import District, generate
from edfi_api.loading.interchange.results import Refused
from edfi_api.loading.json_lines.exporting import into_folder
from edfi_api.loading.json_lines.loading import load_documents
from edfi_api.loading.json_lines.sources import sources
from edfi_api.model.examples import Bodies
from edfi_api.model.surface.bundled_descriptors import bundled_values
from edfi_api.storage.stored import Outcome
from tests.serving import STANDARDS, Served, served

STUDENTS = 200


@cache
def bodies_of(standard: str) -> Bodies:
    """Completes bodies with the values that are bundled with the standard."""
    return Bodies(served(standard).surface, list(bundled_values(BUNDLED_STANDARDS / standard)))


def district_of(standard: str, students: int = STUDENTS, seed: int = 1) -> District:
    return generate(bodies_of(standard), students, seed)


@pytest.fixture(params=STANDARDS)
def demo_server(request: pytest.FixtureRequest, db: None, tmp_path: Path) -> Iterator[Served]:
    """A server of each standard with the district, which its own loader has accepted as a whole."""
    here = served(request.param)
    district, refusals = district_of(request.param), list[Refused]()
    with here.instead():
        load_bundled(here.surface, BUNDLED_STANDARDS / request.param, refusals.append)
        with into_folder(tmp_path, here.surface.resources) as write:
            for name, bodies in district.bodies.items():
                write(here.surface.by_name[name], [[json_text.dumps(body).decode() for body in bodies]])
        files = sources(here.surface, [str(tmp_path)])
        result = load_documents(here.surface, files, refusals.append, 100_000, processes=0)
        assert [str(refusal) for refusal in refusals] == []
        assert result.total(Outcome.INSERTED) == sum(map(len, district.bodies.values()))
        yield here
