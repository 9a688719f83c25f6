"""A connection to a small Ed-Fi API, and what is pushed to it in this process."""

import threading
from collections.abc import Callable, Iterator

import pytest

from edfi_api.exchange.models import Connection
from edfi_api.exchange.push.pushing import Push, PushOptions
from edfi_api.exchange.push.sender import PushFigures
from edfi_api.exchange.remote_api import Trust
from edfi_api.security.models import ApiClient
from tests.exchange.reference_target import ReferenceTarget, serving


@pytest.fixture
def target() -> Iterator[ReferenceTarget]:
    with serving(ReferenceTarget()) as found:
        yield found


@pytest.fixture
def connection(api, target: ReferenceTarget, settings) -> Connection:
    """Pushes to the target all that the client of the tests may read."""
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
