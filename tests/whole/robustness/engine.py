"""The HTTP engine with WSGI applications of tests, in this process, and connections to it."""

import socket
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from http.client import HTTPResponse
from threading import Event
from typing import Any

from meadowlark.serving import environ
from meadowlark.serving.delayed_answers import DelayedAnswers
from meadowlark.serving.engine import Engine
from meadowlark.serving.gateway import AccessLog, Gateway
from meadowlark.serving.large_answers import Senders
from meadowlark.serving.request_bodies import RequestBodies
from meadowlark.serving.turns import Caller, Turns
from tests.whole.robustness.waiting import wait_until

THREADS = 2
LIMIT = 200_000
HOST = b"Host: localhost\r\n"
Application = Callable[[dict[str, Any], Callable[..., Any]], Any]


@contextmanager
def serving(application: Application, seconds: float = 60, head_seconds: int = 60) -> Iterator[int]:
    """The port of an engine with two threads, which accepts bodies of 200,000 bytes within this number of seconds."""
    with (
        socket.create_server(("127.0.0.1", 0)) as listener,
        serving_on(listener, application, Event(), seconds, head_seconds),
    ):
        yield listener.getsockname()[1]


@contextmanager
def serving_on(
    listener: socket.socket,
    application: Application,
    stopping: Event,
    seconds: float = 60,
    head_seconds: int = 60,
    *,
    busy: dict[object, str] | None = None,
    access_log: AccessLog | None = None,
    most_waiting: int = 100,
    refused_after: float = 0.1,
    most_delayed: int = 100,
) -> Iterator[Engine]:
    bodies = RequestBodies(LIMIT, seconds)
    stopped = Event()
    with (
        ThreadPoolExecutor(THREADS) as senders,
        ThreadPoolExecutor(1) as clock,
    ):
        variables = environ.FIXED | {"SERVER_NAME": "localhost", "SERVER_PORT": "1"}
        busy = {} if busy is None else busy
        turns = Turns(THREADS, most_waiting)
        delayed = DelayedAnswers(refused_after, most_delayed)
        gateway = Gateway(
            application,
            variables,
            bodies,
            Senders(senders),
            busy,
            seconds,
            turns,
            delayed,
            _caller,
            stopping,
            access_log,
        )

        def check() -> None:
            bodies.expire()
            delayed.send_due()

        engine = Engine(
            listener, gateway.handle, threads=THREADS + 1, connections=100, head_seconds=head_seconds, backlog=100
        )
        engine.start()
        clock.submit(lambda: [check() for _ in iter(lambda: stopped.wait(0.05), True)])
        try:
            yield engine
        finally:
            stopped.set()
            engine.stop()
            wait_until(engine.has_stopped, 30, "the engine has connections")


def _caller(variables: dict[str, Any]) -> Caller:
    """By a header, which stands for the token of a client."""
    return Caller(variables.get("HTTP_CLIENT", "one"))


def connected(port: int) -> socket.socket:
    return socket.create_connection(("127.0.0.1", port), timeout=30)


def received(connection: socket.socket) -> HTTPResponse:
    """The next answer, without reading beyond it."""
    answer = HTTPResponse(connection)
    answer.fp.close()
    answer.fp = connection.makefile("rb", buffering=0)
    answer.begin()
    answer.body = b"".join(iter(lambda: answer.read(65536), b""))
    return answer
