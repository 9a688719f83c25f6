"""Small districts of bundled standards, and servers with them."""

from collections.abc import Callable, Iterator
from datetime import date
from functools import cache
from pathlib import Path
from signal import SIGTERM

import pytest

from edfi_api.common.conf import BUNDLED_STANDARDS
from edfi_api.features.loading.demo_district import District, generate
from edfi_api.model.examples import Bodies
from edfi_api.model.surface.bundled_descriptors import bundled_values
from tests.meadowlark.run.make_run import Run
from tests.support.ports import free_port
from tests.support.serving import SERVED_BY_DEFAULT, STANDARDS, served

STUDENTS = 200
# A day in the spring of a school year, so that tests find the same district whenever they run.
TODAY = date(2026, 5, 4)


@cache
def bodies_of(standard: str) -> Bodies:
    """Completes bodies with the descriptor values bundled with the standard."""
    return Bodies(served(standard).surface, list(bundled_values(BUNDLED_STANDARDS / standard)))


def district_of(standard: str, students: int = STUDENTS, seed: int = 1, today: date = TODAY) -> District:
    return generate(bodies_of(standard), students, seed, today)


# A demo starts a server and loads a district: those of other standards only with `--every-standard`.
_DEMOS = [pytest.param(each, marks=[] if each == SERVED_BY_DEFAULT else pytest.mark.standards) for each in STANDARDS]


@pytest.fixture(scope="module", params=_DEMOS)
def demo(
    request: pytest.FixtureRequest,
    tmp_path_factory: pytest.TempPathFactory,
    standard: str,
    prepared_home: Callable[[Path], Path],
) -> Iterator[tuple[str, Path, Run]]:
    """A standard, the home of its `make demo`, and the running server. It uses a separate database: the district would
    leave megabytes of dead rows in that of the other tests. That of the configured standard is prepared already."""
    home = tmp_path_factory.mktemp("demo") / "home"
    if request.param == standard:
        prepared_home(home)
    run = Run(
        home, free_port(), "--demo", str(STUDENTS), "--today", TODAY.isoformat(), MEADOWLARK_DATA_STANDARD=request.param
    )
    try:
        run.wait_until_served()
        yield request.param, home, run
    finally:
        if run.process.poll() is None:
            run.stop(SIGTERM)
