"""The project of docker/compose.yaml, on base images of Debian's packages."""

from collections.abc import Iterator

import pytest

from tests.tools.compose import stand_ins
from tests.tools.compose.engine import Engine, obstacle, running
from tests.tools.compose.project import Project


@pytest.fixture(scope="session")
def engine() -> Iterator[Engine]:
    if reason := obstacle():
        pytest.skip(reason)
    with running() as engine:
        if found := stand_ins.images_in_the_way(engine):
            pytest.skip(f"would replace the images {', '.join(found)} of the engine: remove them, or name another one")
        stand_ins.make(engine)
        yield engine


@pytest.fixture(scope="module")
def project(engine: Engine, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Project]:
    """Not started; all that it has is removed after the module."""
    project = Project(engine, tmp_path_factory.mktemp("checkout"))
    project.remove()  # What an earlier run has left.
    try:
        yield project
    finally:
        project.remove()
