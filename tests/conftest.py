"""What all tests share: the surface, documents made from it, and an authenticated client."""

import fcntl
import gc
import logging
import os
from collections.abc import Callable, Generator, Iterator
from contextlib import ExitStack, contextmanager
from functools import cache
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.db import DEFAULT_DB_ALIAS, connections, transaction
from django.dispatch import receiver
from django.test import Client
from django.test.signals import setting_changed

from edfi_api.common.conf import api_settings
from edfi_api.core.documents.document_validator import DocumentValidators
from edfi_api.core.security.clients import create_client
from edfi_api.core.security.requests.authentication import client_of_token
from edfi_api.core.served import current_surface
from edfi_api.core.storage import database_state
from edfi_api.core.storage.integrity import disagreements
from edfi_api.features.refusals.models import Refusal
from edfi_api.model.metaed.compiler import compile_projects
from edfi_api.model.surface.builder import build_surface
from edfi_api.model.surface.resource import Resource, ResourceName, Surface
from edfi_api.web.viewsets import recorded_writes
from meadowlark.serving.process import pause_garbage_collection, resume_garbage_collection
from tests.features.refusals.recorder import RecorderInTest
from tests.model.surface.models import SurfaceOf, write_project
from tests.support.admin_pages import fill_every_table
from tests.support.databases import DOCUMENTS, has_documents, rolled_back
from tests.support.factories import DocumentFactory
from tests.support.homes import copy_home, make_prepared_home
from tests.support.inserted_client import InsertedClient, take_far_ids
from tests.support.logs import Log
from tests.support.restoring import remember_what_migrate_left, restore_what_has_grown, restore_what_migrate_left
from tests.support.serving import Served
from tests.support.template_database import template_database

DATA = "/data/ed-fi"


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--stress-seconds", type=float, default=4, help="how long writers fight in tests/whole/robustness")
    parser.addoption("--write-house", action="store_true", help="tests/whole/architecture: figures into their page")


def pytest_configure() -> None:
    pause_garbage_collection()  # Importing eight thousand tests takes twice as long with it.
    # The thread that records requests would write beside the transactions of tests; `tests/features/refusals` records
    # in them.
    settings.EDFI_API["WRITE_RECORDER"] = ""
    # Likewise the thread that writes what clients do.
    settings.EDFI_API["RUN_DAYS"] = 0
    # Without it, each new client lists all static files.
    settings.WHITENOISE_AUTOREFRESH = True
    # The iterations of the default take a third of a second for each password.
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher", *settings.PASSWORD_HASHERS]
    # Data stores of tests lie on servers of their own.
    settings.EDFI_API["STORE_HOSTS"] = ("*",)
    api_settings.reload()  # Conftests of folders that the command names were imported before.
    os.environ.setdefault("MEADOWLARK_STORE_HOSTS", "*")
    # Homes of tests have the compiled models of the checkout: compiling one takes as long as a start.
    os.environ.setdefault("MEADOWLARK_CACHE", str(settings.HOME / "cache"))


def pytest_collection_finish() -> None:
    resume_garbage_collection()
    # Of what tests make, most stays: surfaces, validators, plans. Usual thresholds take a quarter of the time of tests.
    gc.set_threshold(50_000, 10, 20)


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(
    collector: pytest.Collector,
) -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    """All processes collect the same modules at the same time. One by one, the first of them writes the module with
    its assertions rewritten to the cache, and the others read it, which takes half as long."""
    if not isinstance(collector, pytest.Module):
        return (yield)
    with collector.path.open() as module:
        fcntl.flock(module, fcntl.LOCK_EX)
        return (yield)


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Tests of servers run first, so that one process has them. Others take over the last tests of a process, half of
    a module too, and a server of a module would be started by each."""
    items.sort(key=lambda item: "prepared_home" not in getattr(item, "fixturenames", ()))


def pytest_xdist_auto_num_workers() -> int:
    """One more than there are processors, since many tests wait for servers and locks. Each further one takes half a
    minute of a processor to collect the tests and to make what it remembers."""
    return min(4, 1 + (os.cpu_count() or 1))


@pytest.fixture(autouse=True)
def _nothing_remembered():
    """What one test's database held is unknown to the next."""
    database_state.forget()
    client_of_token.cache_clear()
    restore_what_has_grown()


@pytest.fixture(scope="session")
def standard() -> str:
    """The configured data standard, for expectations that differ between `3.3.1-b` and `5.2`, among others."""
    return api_settings.DATA_STANDARD


@pytest.fixture(scope="session")
def surface() -> Surface:
    return current_surface()


@pytest.fixture(scope="session")
def documents(surface: Surface) -> DocumentFactory:
    return DocumentFactory(surface)


@pytest.fixture(scope="session")
def resource_named(surface: Surface):
    """The resource of the core project with this name."""

    def find(name: str) -> Resource:
        return surface.by_name[ResourceName("Ed-Fi", name)]

    return find


@cache
def http() -> Client:
    """One for all tests: each new client would load all middleware anew, which takes longer than its requests."""
    return Client(raise_request_exception=False)


@receiver(setting_changed)
def _load_middleware_anew(*, setting: str, **_: Any) -> None:
    if setting == "MIDDLEWARE":
        http.cache_clear()


class ApiTestClient:
    """Speaks JSON with a bearer token; paths begin behind `/data/ed-fi`."""

    def __init__(self, token: str) -> None:
        self.token = token

    def request(self, method: str, path: str, body: Any = None, content_type: str = "application/json", **extra: Any):
        url = (
            path
            if path.lower().startswith(("/data", "/v", "/relations", "/changequeries", "/submissions", "/history"))
            else DATA + path
        )
        content = {} if body is None else {"data": body, "content_type": content_type}
        headers = {"HTTP_AUTHORIZATION": f"Bearer {self.token}"} | extra
        return getattr(http(), method)(url, **content, **headers)

    def get(self, path: str, **extra: Any):
        return self.request("get", path, **extra)

    def post(self, path: str, body: Any, **extra: Any):
        return self.request("post", path, body, **extra)

    def put(self, path: str, body: Any, **extra: Any):
        return self.request("put", path, body, **extra)

    def delete(self, path: str, **extra: Any):
        return self.request("delete", path, **extra)


def new_token(name: str = "tests", claim_set_name: str = "EdFiSandbox", **claims: Any) -> str:
    """A token as a client gets one: with its key and secret from the token endpoint."""
    credentials = create_client(name, claim_set_name, **claims)
    form = {
        "grant_type": "client_credentials",
        "client_id": credentials.key,
        "client_secret": credentials.secret,
    }
    return http().post("/oauth/token", form, content_type="application/json").json()["access_token"]


@pytest.fixture(scope="session")
def validators(surface: Surface) -> DocumentValidators:
    return DocumentValidators(surface)


@pytest.fixture(scope="session")
def insert_client(django_db_setup, django_db_blocker) -> Callable[[], str]:
    """Inserts the rows of a client and its token, which are made once; returns the token."""
    with django_db_blocker.unblock(), transaction.atomic():
        take_far_ids()
        client = InsertedClient(new_token())
        transaction.set_rollback(True)
    return client.insert


@pytest.fixture
def api_without_check(db, insert_client: Callable[[], str]) -> ApiTestClient:
    """A client with a valid token, in a database transaction that is rolled back after the test."""
    return ApiTestClient(insert_client())


@pytest.fixture
def api(api_without_check: ApiTestClient, validators: DocumentValidators) -> Iterator[ApiTestClient]:
    """Yield a client of the API; whatever the test wrote, bodies and rows must agree at its end."""
    yield api_without_check
    if has_documents():
        assert list(disagreements(validators, DOCUMENTS)) == []


@pytest.fixture
def log() -> Iterator[Log]:
    """Everything that is logged during the test."""
    root = logging.getLogger()
    before = root.handlers[:], root.level
    log = Log()
    root.addHandler(log.handler)
    root.setLevel(logging.DEBUG)
    yield log
    root.handlers[:], level = before
    root.setLevel(level)


@pytest.fixture(scope="session")
def django_db_modify_db_settings(
    django_db_modify_db_settings: None, django_db_blocker, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[None]:
    """One of several processes migrates; the others copy its database."""
    if "PYTEST_XDIST_WORKER" not in os.environ:
        yield
        return
    of_tests = connections[DEFAULT_DB_ALIAS].settings_dict["TEST"]
    with ExitStack() as template:
        with django_db_blocker.unblock():
            name = template.enter_context(template_database(tmp_path_factory.getbasetemp().parent))
        of_tests["TEMPLATE"] = name
        yield
        with django_db_blocker.unblock():
            template.close()


@pytest.fixture(scope="session")
def _restorable_database(django_db_setup, django_db_blocker) -> None:
    with django_db_blocker.unblock():
        remember_what_migrate_left()


@pytest.fixture
def transactional_db(_restorable_database, django_db_blocker) -> Iterator[None]:
    """A database to which the test commits; the fixture of this name in pytest-django needs ten times as long."""
    with django_db_blocker.unblock():
        yield
        restore_what_migrate_left()
        connections.close_all()


@pytest.fixture(scope="session")
def prepared_home(tmp_path_factory: pytest.TempPathFactory) -> Callable[[Path], Path]:
    """Makes a home at the path, for a server whose test is not about preparing the database."""
    base = tmp_path_factory.getbasetemp()
    of_all_processes = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
    return lambda destination: copy_home(make_prepared_home(of_all_processes), destination)


@pytest.fixture(scope="session")
def served_in_module(django_db_setup, django_db_blocker):
    """Serves another surface to the tests of a module, whose transactions are nested in one that is rolled back."""

    @contextmanager
    def serve(served: Served) -> Iterator[Served]:
        with django_db_blocker.unblock(), rolled_back(), served.instead():
            yield served

    return serve


@pytest.fixture
def committing_api(transactional_db, insert_client: Callable[[], str]) -> ApiTestClient:
    """A client whose writes are really committed, for tests with several connections."""
    return ApiTestClient(insert_client())


@pytest.fixture
def recorder(settings, db) -> RecorderInTest:
    """Refused writes are recorded in the transaction of the test, by `flush`."""
    settings.EDFI_API = settings.EDFI_API | {"WRITE_RECORDER": "tests.features.refusals.recorder.RecorderInTest"}
    recorded_writes._recorder.cache_clear()
    found = recorded_writes.recorder()
    found.flush()  # The first look at later writes begins here.
    return found


@pytest.fixture
def refused(recorder: RecorderInTest) -> Callable[..., list[Refusal]]:
    """The entries, oldest first, after everything has been recorded."""

    def entries(**filters: Any) -> list[Refusal]:
        recorder.flush()
        return list(Refusal.objects.filter(**filters).order_by("id"))

    return entries


@pytest.fixture
def row_in_every_table(db, documents: DocumentFactory) -> None:
    """A row in each of the admin's tables."""
    fill_every_table(ApiTestClient(new_token()), documents)


@pytest.fixture
def surface_of(tmp_path: Path) -> SurfaceOf:
    """Compiles the text of a core project, and of extension projects given by name."""
    numbers = count()

    def compiled(core: str, version: str = "5.2.0", **extensions: str) -> Surface:
        folder = tmp_path / f"models{next(numbers)}"
        core_folder = write_project(folder / "core", "Ed-Fi", core, version)
        others = [write_project(folder / name, name, text, "1.0.0") for name, text in extensions.items()]
        return build_surface(compile_projects([core_folder, *others]))

    return compiled


def item_path(response: Any) -> str:
    """The path of a written document, from its Location header."""
    return response["Location"].removeprefix("http://testserver")
