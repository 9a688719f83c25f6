"""Connections to small Ed-Fi APIs, and what is pulled and pushed in this process."""

import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from edfi_api.core.data_stores.connection_strings import encrypt
from edfi_api.core.security.clients import create_client
from edfi_api.core.security.models import ApiClient
from edfi_api.features.exchange.management.commands.push_changes import Push, PushOptions
from edfi_api.features.exchange.models import Connection
from edfi_api.features.exchange.pull.pulling import Pulled, Puller, PullOptions
from edfi_api.features.exchange.pull.reading import RemoteSource
from edfi_api.features.exchange.push.sender import PushFigures
from edfi_api.features.exchange.remote_api import RemoteApi, Trust
from edfi_api.model.surface.resource import Surface
from tests.features.exchange.district import District
from tests.features.exchange.random_changes import path_of
from tests.features.exchange.reference_source import KEY, SECRET, ReferenceSource
from tests.features.exchange.reference_target import ReferenceTarget, serving
from tests.support.databases import DOCUMENTS
from tests.support.examples import examples

_FIRST_SEED = 13


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "seed" in metafunc.fixturenames:
        metafunc.parametrize("seed", range(_FIRST_SEED, _FIRST_SEED + examples(1)))


@pytest.fixture
def target() -> Iterator[ReferenceTarget]:
    with serving(ReferenceTarget()) as found:
        yield found


@pytest.fixture
def connection(request: pytest.FixtureRequest, target: ReferenceTarget, settings) -> Connection:
    """Pushes to the target all that the client of the tests may read."""
    request.getfixturevalue("committing_api" if "committing_api" in request.fixturenames else "api")
    settings.EDFI_API = settings.EDFI_API | {"STORE_KEYS": ("a key for tests",)}
    client = ApiClient.objects.get(name="tests")
    made = Connection(name="state", direction="push", address=target.address, key="key", api_client=client)
    made.set_secret("secret")
    made.save()
    return made


@pytest.fixture
def pushed(connection: Connection) -> Callable[..., PushFigures]:
    """Pushes what has changed, and returns the numbers of documents."""

    def push(*, is_full: bool = False, retries: bool = False, connections: int = 4, **options) -> PushFigures:
        given = PushOptions(connections, Trust(), options.get("are_denials_warnings", False), False, threading.Event())
        with Push(Connection.objects.get(pk=connection.pk), given) as found:
            if retries:
                found.ask_again()
            found.run(is_full=is_full)
        return found.figures

    return push


@pytest.fixture
def source() -> Iterator[ReferenceSource]:
    with ReferenceSource().serving() as serving:
        yield serving


@pytest.fixture
def district(source: ReferenceSource) -> District:
    return District(source)


@pytest.fixture
def client_here(db: None) -> ApiClient:
    """The client of the connection, which may write everything."""
    credentials = create_client("connection", "EdFiSandbox")
    return ApiClient.objects.get(client_id=credentials.key)


@pytest.fixture
def connect(source: ReferenceSource, client_here: ApiClient, settings: Any) -> Callable[..., Connection]:
    """Stores a connection to the source."""
    settings.EDFI_API = settings.EDFI_API | {"STORE_KEYS": ("key of tests",)}

    def stored(**changes: Any) -> Connection:
        values = {"name": "district", "direction": "pull", "address": source.address, "key": KEY}
        return Connection.objects.create(**{**values, "secret": encrypt(SECRET), "api_client": client_here, **changes})

    return stored


@pytest.fixture
def pull(surface: Surface) -> Callable[..., Pulled]:
    """Pulls the next window for a connection."""

    def run(pulled: Connection, page_size: int = 500, threads: int = 2, **options: Any) -> Pulled:
        api = RemoteApi(pulled, Trust(), threads)
        with RemoteSource(pulled, api, page_size=page_size, threads=threads) as opened:
            return Puller(pulled, opened, surface, DOCUMENTS, PullOptions(processes=0, **options)).pull()

    return run


@pytest.fixture
def descriptors(api) -> None:
    """Store the descriptors of schools and enrollments."""
    for endpoint, code in (("educationOrganizationCategory", "School"), ("gradeLevel", "Ninth grade")):
        name = f"{endpoint[0].upper()}{endpoint[1:]}Descriptor"
        body = {"namespace": f"uri://ed-fi.org/{name}", "codeValue": code, "shortDescription": code}
        path_of(api.post(f"/{endpoint}Descriptors", body))
