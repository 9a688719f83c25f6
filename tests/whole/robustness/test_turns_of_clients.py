"""One client with many requests beside others: an engine with two threads, in this process."""

import select
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Event, Lock
from typing import Any

from tests.whole.robustness.engine import HOST, connected, received, serving_on
from tests.whole.robustness.waiting import wait_until


class Held:
    """An application whose answers to `/slow` wait until the test lets them go."""

    def __init__(self) -> None:
        self.let_go = Event()
        # The requests that have arrived and are not answered yet.
        self.busy: dict[object, str] = {}
        self.at_work = 0
        self.most_at_work = 0
        self.bodies: list[bytes] = []
        self._lock = Lock()

    def __call__(self, variables: dict[str, Any], start: Callable[..., Any]) -> list[bytes]:
        if variables["PATH_INFO"] == "/slow":
            with self._lock:
                self.at_work += 1
                self.most_at_work = max(self.most_at_work, self.at_work)
            self.let_go.wait(30)
            self.bodies.append(variables["wsgi.input"].read())
            with self._lock:
                self.at_work -= 1
        if variables["PATH_INFO"] == "/limited":
            start("429 Too Many Requests", [("Content-Length", "8")])
            return [b"too many"]
        start("200 OK", [("Content-Length", "2")])
        return [b"ok"]


@contextmanager
def held(most_waiting: int = 100, refused_after: float = 0.1, most_delayed: int = 100) -> Iterator[tuple[Held, int]]:
    """The application and its port."""
    application = Held()
    with (
        socket.create_server(("127.0.0.1", 0)) as listener,
        serving_on(
            listener,
            application,
            Event(),
            busy=application.busy,
            most_waiting=most_waiting,
            refused_after=refused_after,
            most_delayed=most_delayed,
        ),
    ):
        try:
            yield application, listener.getsockname()[1]
        finally:
            application.let_go.set()


def sent(port: int, client: str, path: str, body: bytes = b"") -> socket.socket:
    connection = connected(port)
    length = b"Content-Length: %d\r\n" % len(body) if body else b""
    method = b"POST" if body else b"GET"
    head = b"%s %s HTTP/1.1\r\n%sClient: %s\r\n%s\r\n" % (method, path.encode(), HOST, client.encode(), length)
    connection.sendall(head + body)
    return connection


def status_of(port: int, client: str, path: str = "/") -> int:
    with sent(port, client, path) as connection:
        return received(connection).status


def test_a_client_is_answered_while_another_has_many_requests() -> None:
    with held() as (application, port):
        status_of(port, "polite")
        greedy = [sent(port, "greedy", "/slow") for _ in range(20)]
        wait_until(lambda: application.at_work == 1, 30)

        answered = [status_of(port, "polite") for _ in range(5)]
        at_work = application.most_at_work
        application.let_go.set()
        later = [received(each).status for each in greedy]

    assert answered == [200] * 5
    assert at_work == 1
    assert later == [200] * 20


def test_a_client_that_is_alone_has_all_threads() -> None:
    with held() as (application, port):
        greedy = [sent(port, "greedy", "/slow") for _ in range(5)]

        wait_until(lambda: application.at_work == 2, 30)
        application.let_go.set()
        assert [received(each).status for each in greedy] == [200] * 5


def test_clients_that_come_when_all_threads_are_at_work_are_next() -> None:
    with held() as (application, port):
        greedy = [sent(port, "greedy", "/slow", b"greedy") for _ in range(8)]
        wait_until(lambda: application.at_work == 2, 30)
        polite = sent(port, "polite", "/slow", b"polite")
        wait_until(lambda: len(application.busy) == 9, 30)
        # One answer later, both have one request at work.
        application.let_go.set()
        statuses = [received(each).status for each in (*greedy, polite)]

    assert statuses == [200] * 9
    assert b"polite" in application.bodies[:5]


def test_requests_of_one_client_beyond_a_number_are_refused() -> None:
    with held(most_waiting=3) as (application, port):
        status_of(port, "polite")
        greedy = [sent(port, "greedy", "/slow") for _ in range(4)]
        wait_until(lambda: len(application.busy) == 4, 30)

        with sent(port, "greedy", "/slow") as one_more:
            refused = received(one_more)
        polite = status_of(port, "polite")
        application.let_go.set()
        later = [received(each).status for each in greedy]

    assert (refused.status, refused.headers["Retry-After"], refused.headers["Connection"]) == (429, "1", "close")
    assert b"urn:ed-fi:api:too-many-requests" in refused.body
    assert polite == 200
    assert later == [200] * 4


def test_a_refusal_waits_so_that_a_client_which_repeats_requests_at_once_sends_few() -> None:
    """It occupies no thread meanwhile, and its connection may be closed for the benefit of others."""
    with held(most_waiting=0, refused_after=3600) as (application, port):
        status_of(port, "polite")
        at_work = sent(port, "greedy", "/slow")
        wait_until(lambda: application.at_work == 1, 30)
        further = [sent(port, "greedy", "/slow") for _ in range(10)]

        polite = [status_of(port, "polite") for _ in range(5)]
        refused = select.select(further, [], [], 0)[0]
        wait_until(lambda: len(application.busy) == 1, 30)
        application.let_go.set()
        first = received(at_work).status
        for each in further:
            each.close()

    assert (polite, refused, first) == ([200] * 5, [], 200)


def test_a_refusal_of_the_application_waits_too_and_its_connection_stays_open() -> None:
    with held(refused_after=1) as (_, port):
        limited = [sent(port, "greedy", "/limited") for _ in range(5)]
        others = [status_of(port, "greedy") for _ in range(5)]
        early = select.select(limited, [], [], 0)[0]
        statuses = [received(each).status for each in limited]
        limited[0].sendall(b"GET / HTTP/1.1\r\n%s\r\n" % HOST)
        next_one = received(limited[0]).status

    assert (others, early, statuses, next_one) == ([200] * 5, [], [429] * 5, 200)


def test_refusals_beyond_those_that_may_wait_are_sent_at_once() -> None:
    """A client that closes its connections and opens others fills no memory with its refusals."""
    with held(most_waiting=0, refused_after=3600, most_delayed=0) as (application, port):
        status_of(port, "polite")
        at_work = sent(port, "greedy", "/slow")
        wait_until(lambda: application.at_work == 1, 30)

        refused = [status_of(port, client, path) for client, path in (("greedy", "/slow"), ("polite", "/limited"))]

        application.let_go.set()
        first = received(at_work).status

    assert (refused, first) == ([429, 429], 200)


def test_all_threads_work_again_after_a_refusal_where_no_request_may_wait() -> None:
    with held(most_waiting=0) as (application, port):
        greedy = [sent(port, "greedy", "/slow") for _ in range(2)]
        wait_until(lambda: application.at_work == 2, 30)
        refused = status_of(port, "greedy", "/slow")
        application.let_go.set()
        later = [received(each).status for each in greedy]
        wait_until(lambda: not application.busy, 30)
        application.let_go.clear()
        again = [sent(port, "greedy", "/slow") for _ in range(2)]
        wait_until(lambda: application.at_work == 2, 30)
        application.let_go.set()
        afterwards = [received(each).status for each in again]

    assert (refused, later, afterwards) == (429, [200] * 2, [200] * 2)


def test_bodies_that_wait_are_among_those_that_a_worker_holds() -> None:
    """It holds 16 MB: 88 bodies of 190 kB."""
    with held() as (application, port):
        status_of(port, "polite")
        greedy = [sent(port, "greedy", "/slow", b"x" * 190_000) for _ in range(92)]
        wait_until(lambda: len(application.busy) == 88, 30)

        refused = [each for each in greedy if select.select([each], [], [], 0.5 / len(greedy))[0]]
        statuses = [received(each).status for each in refused]
        application.let_go.set()

    assert statuses == [503] * 4
