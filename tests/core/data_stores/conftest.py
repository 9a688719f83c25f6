"""Data stores on two real servers: the admin database on the one of all tests, documents on another one."""

import fcntl
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psycopg
import pytest
from django.conf import settings as django_settings
from django.core.management import call_command
from django.db import connections
from django.db.backends.base.base import BaseDatabaseWrapper

from edfi_api.core.data_stores import databases
from edfi_api.core.data_stores.connection_strings import destination
from edfi_api.core.data_stores.models import DataStore, State
from edfi_api.core.data_stores.stores import create_data_store
from edfi_api.core.security.models import ApiClient
from edfi_api.core.storage import database_state
from edfi_api.features.changes.change_queries import tracked_changes
from edfi_api.model.surface.resource import Surface
from meadowlark.run.embedded_postgres import VOLATILE, EmbeddedPostgres
from tests.conftest import ApiTestClient, new_token
from tests.support import superuser
from tests.support.factories import DocumentFactory
from tests.support.homes import copy_home

_TEMPLATE = "template_of_stores"
_SHARED = "shared"


@dataclass
class Databases:
    """Databases on the second server. Their tables are copied from a template, which is migrated once."""

    url: str
    # Django's own, without the guards of test cases.
    ensure_connection: Any
    made: list[str] = field(default_factory=list)

    def url_of(self, name: str) -> str:
        return self.url.replace("/meadowlark?", f"/{name}?")

    def create(self, template: str | None = _TEMPLATE) -> str:
        """The URL of a new database, with the tables of documents unless there is no template."""
        name = f"store_{len(self.made)}"
        self.made.append(name)
        # By files, which writes no log: half of the processor time.
        self.run(f"CREATE DATABASE {name} TEMPLATE {template or 'template0'} STRATEGY FILE_COPY")
        return self.url_of(name)

    def shared(self) -> str:
        """The URL of a database for tests that only read."""
        return self.url_of(_SHARED)

    def drop_all(self) -> None:
        while self.made:
            superuser.drop_database(self.made.pop(), self.url)

    def run(self, statement: str) -> None:
        with psycopg.connect(self.url, autocommit=True) as connection:
            connection.execute(statement)


@pytest.fixture(scope="session")
def second_server(
    django_db_setup: None, django_db_blocker: Any, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Databases]:
    home = Path(tempfile.mkdtemp(prefix="meadowlark-stores-"))
    base = tmp_path_factory.getbasetemp()
    with django_db_blocker.unblock():
        prepared = _prepared_server(base.parent if "PYTEST_XDIST_WORKER" in os.environ else base)
        connect = BaseDatabaseWrapper.ensure_connection
    copy_home(prepared, home / "home")
    with EmbeddedPostgres(home / "home", VOLATILE) as server:
        yield Databases(server.url, connect)
    shutil.rmtree(home)


def _prepared_server(folder: Path) -> Path:
    """The home of a server with the migrated databases, which the processes of a test run copy; one of them makes it.
    Sockets need short paths, so it is made elsewhere."""
    prepared = folder / "server_of_stores"
    with (folder / "server_of_stores.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not prepared.exists():
            home = Path(tempfile.mkdtemp(prefix="meadowlark-stores-"))
            with EmbeddedPostgres(home / "home", VOLATILE) as server:
                _migrate(Databases(server.url, BaseDatabaseWrapper.ensure_connection))
            copy_home(home / "home", folder / "unfinished_server_of_stores")
            (folder / "unfinished_server_of_stores").rename(prepared)
            shutil.rmtree(home)
    return prepared


def _migrate(made: Databases) -> None:
    made.run(f"CREATE DATABASE {_TEMPLATE} TEMPLATE template0")
    databases.add("template", destination(made.url_of(_TEMPLATE)), "tests")
    call_command("migrate", database="template", verbosity=0)
    connections["template"].close()
    del connections["template"]
    databases.remove("template")
    made.run(f"CREATE DATABASE {_SHARED} TEMPLATE {_TEMPLATE}")


@pytest.fixture
def store_databases(second_server: Databases, monkeypatch: pytest.MonkeyPatch) -> Iterator[Databases]:
    """Databases for one test; afterwards they are gone, with the aliases that lead to them."""
    # Test cases refuse databases that were added after they had begun.
    monkeypatch.setattr(BaseDatabaseWrapper, "ensure_connection", second_server.ensure_connection)
    yield second_server
    forget_stores()
    second_server.drop_all()


def forget_stores() -> None:
    """Removes the databases of data stores from Django's connections."""
    for alias in [alias for alias in connections if alias.startswith("store_")]:
        connections[alias].close()
        del connections[alias]
        databases.remove(alias)


@pytest.fixture
def configured(settings: Any) -> Callable[..., None]:
    """Sets settings of the API as a server with data stores has them."""

    def configure(*qualifiers: str, **others: Any) -> None:
        settings.EDFI_API = {
            **settings.EDFI_API,
            "STORE_KEYS": ("a key of tests",),
            "ROUTE_QUALIFIERS": qualifiers,
            **others,
        }
        if qualifiers or others.get("MULTI_TENANCY"):
            place = django_settings.MIDDLEWARE.index(django_settings.DATA_ROUTES)
            context = "edfi_api.web.context.ContextMiddleware"
            settings.MIDDLEWARE = [*django_settings.MIDDLEWARE[:place], context, *django_settings.MIDDLEWARE[place:]]

    return configure


@pytest.fixture
def year(configured: Callable[..., None]) -> None:
    """Data stores are those of school years."""
    configured("schoolYear")


@pytest.fixture
def url(store_databases: Databases) -> Callable[[str], str]:
    """The URL of a database that a command may create."""

    def of(name: str) -> str:
        store_databases.made.append(name)
        return store_databases.url_of(name)

    return of


MakeStore = Callable[..., DataStore]


@pytest.fixture
def make_store(db: None, store_databases: Databases) -> MakeStore:
    """Makes a data store that is online, with a database of its own unless a connection string is given."""

    def make(name: str, *, connection: str | None = None, **context: str) -> DataStore:
        url = connection or store_databases.create()
        return create_data_store(name, context=context, connection=url, state=State.ONLINE)

    return make


class StoreClient(ApiTestClient):
    """A client whose paths begin with a context."""

    def __init__(self, token: str, context: str = "") -> None:
        super().__init__(token)
        self.context = context

    def at(self, context: str) -> "StoreClient":
        return StoreClient(self.token, context)

    def request(self, method: str, path: str, body: Any = None, *args: Any, **extra: Any):
        begins = ("/data", "/v5.2", "/relations", "/changequeries", "/oauth", "/metadata", "/validation")
        begins += ("/history", "/submissions", "/batch")
        url = path if path.lower().startswith(begins) else f"/data/ed-fi{path}"
        content = {} if body is None else {"data": body, "content_type": "application/json"}
        headers = {"HTTP_AUTHORIZATION": f"Bearer {self.token}"} | extra
        return getattr(_http(), method)(f"{self.context}{url}", **content, **headers)


def _http() -> Any:
    from tests.conftest import http  # noqa: PLC0415  Replaced when the middleware of the settings changes.

    return http()


@pytest.fixture
def client_of(db: None) -> Callable[..., StoreClient]:
    """A client that is assigned data stores."""

    def make(*stores: DataStore, name: str = "tests", **claims: Any) -> StoreClient:
        token = new_token(name, **claims)
        ApiClient.objects.get(name=name).data_stores.set(stores)
        return StoreClient(token)

    return make


@pytest.fixture
def stores(configured, make_store):
    """Data stores of two years, which the context tells apart."""
    configured("schoolYear")
    return make_store("2026", schoolYear="2026"), make_store("2027", schoolYear="2027")


@pytest.fixture
def documents_of(surface: Surface) -> Callable[[str], DocumentFactory]:
    """The factory of documents of a database, by its alias."""
    return lambda alias: DocumentFactory(surface, alias)


def renumber(alias: str, surface: Surface) -> None:
    """Give the resources of a database other numbers; it must not have documents."""
    with connections[alias].cursor() as cursor:
        cursor.execute("DELETE FROM key_field")
        cursor.execute("UPDATE resource_type SET id = -id")
        cursor.execute("UPDATE resource_type SET id = 5000 + id")
    database_state.discard(alias)
    tracked_changes.synchronize(surface.resources, alias)
