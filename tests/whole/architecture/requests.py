"""The requests whose paths through the project are counted: each warm, sent to the WSGI application."""

import json
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache
from importlib import import_module
from io import BytesIO
from itertools import count
from threading import Event
from types import SimpleNamespace
from typing import Any

from django.db import DEFAULT_DB_ALIAS, connections

from edfi_api.core.security.models import Application
from edfi_api.core.security.profiles.loading import assign_profiles, read_definitions, store_profiles
from meadowlark.serving import environ
from meadowlark.serving.delayed_answers import DelayedAnswers
from meadowlark.serving.gateway import Gateway
from meadowlark.serving.large_answers import Senders
from meadowlark.serving.request_bodies import RequestBodies
from meadowlark.serving.request_groups import RequestGroups
from meadowlark.serving.turns import Turns
from tests.conftest import new_token
from tests.core.security.profiles.definitions import profile_xml
from tests.features.management_api.managing import VENDOR, token_of
from tests.support.factories import STUDENT
from tests.whole.architecture.request_path import RequestPath, path_of

_STUDENTS = "/data/ed-fi/students"
# What is compiled, cached and prepared at the first requests is not counted.
_WARM_AFTER = 5


def paths(token: str) -> Iterator[tuple[str, RequestPath]]:
    """The requests by name. `token` is that of a client of the sandbox; documents are committed."""
    forget_removed_databases()
    numbers = count()

    def student(**changes: Any) -> dict[str, Any]:
        return STUDENT | {"studentUniqueId": f"path-{next(numbers)}"} | changes

    def operations() -> list[dict[str, Any]]:
        return [{"resource": "/ed-fi/students", "document": student()} for _ in range(3)]

    address = send(token, "POST", _STUDENTS, student())
    yield "POST of a student", warm(lambda: send(token, "POST", _STUDENTS, student()))
    yield "GET by id", warm(lambda: send(token, "GET", address))
    yield "page of 5", warm(lambda: send(token, "GET", f"{_STUDENTS}?limit=5"))
    yield "batch of 3", warm(lambda: send(token, "POST", "/batch", operations()))
    yield "PUT under a profile", warm(_put_under_a_profile(student))
    yield "PUT of the management API", warm(_put_of_a_vendor())


def _put_under_a_profile(student: Callable[..., dict[str, Any]]) -> Callable[[], Any]:
    rule = 'ExcludeOnly:<Property name="middleName"/>'
    store_profiles(read_definitions(profile_xml("Student", rule, rule, "Path")), by="tests")
    token = new_token("bound")
    assign_profiles(Application.objects.get(name="bound"), ["Path"], by="tests")
    address = send(new_token("unbound"), "POST", _STUDENTS, student(studentUniqueId="path", middleName="Lee"))
    names = count()

    def put() -> None:
        changed = {"id": address.rpartition("/")[2], "firstName": f"Mae {next(names)}"}
        send(token, "PUT", address, student(studentUniqueId="path", **changed))

    return put


def _put_of_a_vendor() -> Callable[[], Any]:
    token = token_of("operator")
    address = send(token, "POST", "/config/v3/vendors", VENDOR)
    vendor = VENDOR | {"id": int(address.rpartition("/")[2])}
    names = count()
    return lambda: send(token, "PUT", address, vendor | {"contactName": f"Mae {next(names)}"})


def forget_removed_databases() -> None:
    """Earlier tests in this thread have taken connections to data stores, which they have removed since."""
    in_use = _wsgi()._pool._in_use.__dict__
    for alias in in_use.keys() - set(connections):
        del in_use[alias]


@cache
def _wsgi() -> Any:
    """Its import resumes garbage collection, which slows the import of all tests behind it."""
    return import_module("meadowlark.wsgi")


@contextmanager
def new_gateway() -> Iterator[Gateway]:
    """A gateway to the WSGI application. The connections that it has taken are closed at the end."""
    application = _wsgi().application
    variables = environ.FIXED | {"SERVER_NAME": "testserver", "SERVER_PORT": "80"}
    turns = Turns(1, most_waiting=1)
    with ThreadPoolExecutor(1) as senders:
        try:
            yield Gateway(
                application,
                variables,
                RequestBodies(2**20, 1),
                Senders(senders),
                busy={},
                seconds=1,
                turns=turns,
                delayed=DelayedAnswers(1, 1),
                caller_of=application.caller_of,
                stopping=Event(),
                prepared=application.prepared_requests,
                groups=RequestGroups(turns, application.prepared_requests, most_at_work=1, most_waiting=100),
            )
        finally:
            _wsgi()._pool._close_idle(DEFAULT_DB_ALIAS)


class HandedOver:
    """Requests of one client as the engine hands them over, in one thread, which takes connections, unlike that of a
    test; and the answers that it is given."""

    def __init__(self, token: str, gateway: Gateway, thread: ThreadPoolExecutor) -> None:
        self.answers: list[tuple[int, list[tuple[str, str]], bytes]] = []
        self._token = token
        self._gateway = gateway
        self._thread = thread
        self._body = b""

    def called(self, function: Callable[[], Any]) -> Any:
        """What a function returns in that thread."""
        return self._thread.submit(function).result()

    def handle(self, method: str, address: str, body: bytes = b"", **headers: str) -> None:
        """To be called in that thread."""
        self._body = body
        path, _, query = address.partition("?")
        sent = {"host": "testserver", "authorization": f"Bearer {self._token}"} | headers
        if body:
            sent |= {"content-type": "application/json", "content-length": str(len(body))}
        facts = {"client": "127.0.0.1:80", "http_version": "1.1", "query_string": query}
        self._gateway.handle(SimpleNamespace(**facts, headers=sent, method=method, path=path), self)

    def __call__(self) -> Any:
        future: Future[bytes] = Future()
        future.set_result(self._body)
        return future

    def response_bytes(self, status: int, headers: list[tuple[str, str]], body: bytes) -> None:
        self.answers.append((status, headers, body))


@contextmanager
def engine_in_a_thread(token: str) -> Iterator[HandedOver]:
    """In place of the engine."""
    forget_removed_databases()
    with ThreadPoolExecutor(1) as thread, new_gateway() as gateway:
        yield HandedOver(token, gateway, thread)


def content(body: Any) -> bytes:
    return b"" if body is None else json.dumps(body).encode()


def warm(request: Callable[[], Any]) -> RequestPath:
    """The path of a request that was answered some times before."""
    for _ in range(_WARM_AFTER):
        request()
    return path_of(request)


def send(token: str, method: str, address: str, body: Any = None) -> str:
    """The path in `Location`, if there is one; raises ValueError unless the answer is 2xx."""
    path, _, query = address.partition("?")
    sent = content(body)
    answered: list[Any] = []
    response = _wsgi().application(
        {
            "REQUEST_METHOD": method,
            "PATH_INFO": path,
            "QUERY_STRING": query,
            "HTTP_HOST": "testserver",
            "HTTP_AUTHORIZATION": f"Bearer {token}",
            "SERVER_NAME": "testserver",
            "SERVER_PORT": "80",
            "SERVER_PROTOCOL": "HTTP/1.1",
            "REMOTE_ADDR": "127.0.0.1",
            "CONTENT_TYPE": "application/json" if sent else "",
            "CONTENT_LENGTH": str(len(sent)),
            "wsgi.input": BytesIO(sent),
            "wsgi.url_scheme": "http",
        },
        lambda status, headers, *_: answered.extend((status, dict(headers))),
    )
    answer = b"".join(response)
    response.close()
    status, headers = answered
    if not status.startswith("2"):
        raise ValueError(f"{method} {address}: {status} {answer!r}")
    return headers.get("Location", "").removeprefix("http://testserver")
