"""An ODS for all tests of a process, emptied before each."""

import os
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import pytest

from edfi_api.conf import BUNDLED_STANDARDS
from edfi_api.ods_import import fitting
from edfi_api.ods_import.document_queries import document_queries
from edfi_api.ods_import.fitting import ServedModel
from edfi_api.ods_import.management.commands import import_ods
from edfi_api.sql_views.views import View
from edfi_api.storage import resource_types
from tests.databases import DOCUMENTS, rolled_back
from tests.ods_import.ods import ODS, Ods, database
from tests.ods_import.stored import Stored, stored
from tests.sql_views.models import compiled, views_once


@pytest.fixture(scope="session", autouse=True)
def _models_are_compiled_once():
    """And queries composed once: each import would spend more on that than on its few documents."""
    composed: dict[object, Any] = {}

    def queries_once(tables, bodies, resources, source):
        owners = frozenset(source.owners.items())
        key = (id(bodies), frozenset(source.columns.items()), source.unbounded, owners, source.can_trim)
        if key not in composed:
            composed[key] = document_queries(tables, bodies, resources, source)
        return composed[key]

    current = cache(ServedModel.current)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(fitting, "compile_projects", lambda sources: compiled(*sources))
        patch.setattr(fitting, "document_queries", queries_once)
        patch.setattr(import_ods.ServedModel, "current", current)
        yield


@pytest.fixture(scope="session")
def _ods(django_db_setup, django_db_blocker) -> Iterator[Ods]:
    with django_db_blocker.unblock():
        name = f"ods_{os.environ.get('PYTEST_XDIST_WORKER', 'only')}"
        with database(name, ODS) as made:
            yield made


@pytest.fixture
def ods(_ods: Ods) -> Ods:
    _ods.empty()
    return _ods


@pytest.fixture
def altered(ods: Ods) -> Iterator[Callable[[str, str], None]]:
    """Changes the tables of the ODS until the end of the test."""
    undone = []

    def alter(statement: str, undo: str) -> None:
        ods.run(statement)
        undone.append(undo)

    yield alter
    for statement in reversed(undone):
        ods.run(statement)


@pytest.fixture
def views(surface, db) -> list[View]:
    """Our views, which have the columns of the tables of the ODS."""
    model = compiled(BUNDLED_STANDARDS / "5.2")
    return views_once(model, surface, resource_types.numbers(DOCUMENTS))


@pytest.fixture
def moved_out(ods: Ods, views: list[View]) -> Callable[[Callable[[], None]], dict[str, Stored]]:
    """Fills the ODS with what a function writes here, of which nothing stays here; the documents by id."""

    def move_out(write: Callable[[], None]) -> dict[str, Stored]:
        with rolled_back():
            write()
            ods.fill(views)
            return stored()

    return move_out
