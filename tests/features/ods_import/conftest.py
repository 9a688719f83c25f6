"""An ODS for all tests of a process, emptied before each."""

import os
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any
from uuid import uuid4

import pytest

from edfi_api.common.conf import BUNDLED_STANDARDS
from edfi_api.core.storage import resource_types
from edfi_api.features.ods_import import compatibility
from edfi_api.features.ods_import.compatibility import ServedModel
from edfi_api.features.ods_import.document_queries import document_queries
from edfi_api.features.ods_import.management.commands import import_ods
from edfi_api.features.sql_views.views import View
from tests.features.ods_import.ods import FOLDER, ODS, Ods, database
from tests.features.ods_import.stored import Stored, stored
from tests.features.sql_views.models import compiled, views_once
from tests.support.databases import DOCUMENTS, rolled_back


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
        patch.setattr(compatibility, "compile_projects", lambda sources: compiled(*sources))
        patch.setattr(compatibility, "document_queries", queries_once)
        patch.setattr(compatibility, "bundled_standards", lambda: ["4.0", "5.2"])
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
def altered(ods: Ods) -> Iterator[Callable[..., None]]:
    """Changes the tables of the ODS, or of another database, until the end of the test."""
    undone = []

    def alter(statement: str, undo: str, database: Ods = ods) -> None:
        database.run(statement)
        undone.append((database, undo))

    yield alter
    for altered_database, statement in reversed(undone):
        altered_database.run(statement)


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


@pytest.fixture(scope="session")
def _administration(django_db_setup, django_db_blocker) -> Iterator[tuple[Ods, Ods]]:
    """Each package that imports it has its own."""
    name = uuid4().hex
    with (
        django_db_blocker.unblock(),
        database(f"admin_{name}", FOLDER / "edfi_admin-7.3.sql") as admin,
        database(f"security_{name}", FOLDER / "edfi_security-7.3.sql") as security,
    ):
        yield admin, security


@pytest.fixture
def admin(_administration: tuple[Ods, Ods]) -> Ods:
    admin, _ = _administration
    admin.empty()
    admin.run(
        "INSERT INTO dbo.vendors VALUES (1, 'Riverside');"
        "INSERT INTO dbo.vendornamespaceprefixes VALUES (1, 'uri://riverside.example', 1);"
        "INSERT INTO dbo.applications VALUES (1, 'Roster', 1, 'Roster vendor', 'uri://ed-fi.org');"
        "INSERT INTO dbo.applicationeducationorganizations VALUES (1, 255901, 1), (2, 255902, 1)"
    )
    return admin


@pytest.fixture
def security(_administration: tuple[Ods, Ods]) -> Ods:
    _, security = _administration
    security.empty()
    security.run(
        "INSERT INTO dbo.actions VALUES (1, 'Create', 'uri://create'), (2, 'Read', 'uri://read');"
        "INSERT INTO dbo.authorizationstrategies VALUES (1, 'none', 'NoFurtherAuthorizationRequired'),"
        " (2, 'namespaces', 'NamespaceBased');"
        "INSERT INTO dbo.resourceclaims VALUES"
        " (1, 'people', 'http://ed-fi.org/identity/claims/domains/people', NULL),"
        " (2, 'student', 'http://ed-fi.org/identity/claims/ed-fi/student', 1),"
        " (3, 'staff', 'http://ed-fi.org/identity/claims/ed-fi/staff', 1);"
        "INSERT INTO dbo.resourceclaimactions VALUES (1, 1, 2, NULL);"
        "INSERT INTO dbo.resourceclaimactionauthorizationstrategies VALUES (1, 1, 1);"
        "INSERT INTO dbo.claimsets VALUES (1, 'Roster vendor', false, false);"
        "INSERT INTO dbo.claimsetresourceclaimactions VALUES"
        " (1, 1, 1, 2, NULL), (2, 1, 2, 1, NULL);"
        "INSERT INTO dbo.claimsetresourceclaimactionauthorizationstrategyoverrides VALUES (1, 2, 2)"
    )
    return security


@pytest.fixture
def with_losses(security: Ods) -> None:
    """The claim set also grants by a strategy that there is not, and a resource that there is not."""
    security.run(
        "INSERT INTO dbo.authorizationstrategies VALUES (3, 'ours', 'OfTheStateOnly');"
        "INSERT INTO dbo.resourceclaims VALUES (4, 'gone', 'http://ed-fi.org/identity/claims/state/gone', NULL);"
        "INSERT INTO dbo.claimsetresourceclaimactions VALUES"
        " (3, 1, 3, 2, NULL), (4, 1, 4, 2, NULL), (5, 1, 3, 1, NULL);"
        "INSERT INTO dbo.claimsetresourceclaimactionauthorizationstrategyoverrides VALUES (2, 3, 3), (3, 5, 3)"
    )
