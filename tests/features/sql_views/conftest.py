"""Models and views that tests share, and tables of small models."""

from itertools import count
from pathlib import Path

import pytest

from edfi_api.features.sql_views import current
from edfi_api.features.sql_views.current import CurrentViews
from edfi_api.features.sql_views.tables import sql_tables
from edfi_api.model.metaed.compiler import compile_projects
from tests.features.sql_views.models import compiled, views_once
from tests.model.surface.models import write_project
from tests.support.examples import examples


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Draw random databases for the tests that look at them."""
    if "seed" in metafunc.fixturenames:
        metafunc.parametrize("seed", range(examples(1)))


@pytest.fixture(scope="session", autouse=True)
def _models_are_compiled_once():
    """The commands compile the configured model, which is the same for all tests."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(current, "compile_projects", lambda sources: compiled(*sources))
        patch.setattr(current, "all_views", views_once)
        yield


@pytest.fixture(scope="session")
def current_views(django_db_setup, django_db_blocker) -> CurrentViews:
    """The views of the configured standard."""
    with django_db_blocker.unblock():
        return current.current_views("default")


@pytest.fixture
def tables_of(tmp_path: Path):
    """Compiles the text of a core, and of extensions by name; the columns of each table, as texts, by its name."""
    numbers = count()

    def tables(core: str, version: str = "5.2.0", **extensions: str) -> dict[str, list[str]]:
        folder = tmp_path / f"models{next(numbers)}"
        paths = [write_project(folder / "core", "Ed-Fi", core, version)]
        paths += [write_project(folder / name, name, text, "1.0.0") for name, text in extensions.items()]
        return {str(table): list(map(str, table.columns)) for table in sql_tables(compile_projects(paths))}

    return tables
