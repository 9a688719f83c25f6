"""The HTTP engine with WSGI applications of the tests, in this process: the server's additions to the engine, and the
behaviour of the engine's version on which they rely."""

import gc
import select
import socket
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing, contextmanager
from http.client import HTTPConnection
from pathlib import Path
from threading import Event
from typing import Any

import granian
import psutil
import pytest

from meadowlark.serving.request_bodies import RequestBody
from tests.whole.robustness.engine import HOST, LIMIT, THREADS, Application, connected, received, serving, serving_on
from tests.whole.robustness.waiting import wait_until

TOP = Path(__file__).parents[3]


def echo(variables: dict[str, Any], start: Callable[..., Any]) -> list[bytes]:
    """The body of the request as the answer."""
    body = variables["wsgi.input"].read()
    start("200 OK", [("Content-Length", str(len(body)))])
    return [body]


def seen(request: bytes) -> dict[str, Any]:
    """The WSGI environment of this request."""
    found: list[dict[str, Any]] = []

    def application(variables: dict[str, Any], start: Callable[..., Any]) -> list[bytes]:
        found.append(variables)
        return echo(variables, start)

    with serving(application) as port, connected(port) as connection:
        connection.sendall(request)
        received(connection)
    return found[0]


def test_the_version_of_granian_is_the_one_that_was_reviewed() -> None:
    """After an upgrade, review the private names in `meadowlark/serving/engine.py`, and run `make bench`."""
    assert granian.__version__ == "2.8.7"


def test_the_private_names_of_granian_are_in_one_short_module() -> None:
    sources = {path.name: path.read_text() for path in (TOP / "meadowlark").rglob("*.py")}

    assert [name for name, source in sources.items() if "granian._" in source] == ["engine.py"]
    assert len(sources["engine.py"].splitlines()) < 100


def test_an_application_gets_the_variables_of_wsgi() -> None:
    variables = seen(
        b"POST /a%20b/%C3%A9?q=%41&r HTTP/1.1\r\nHost: api.example.org:8000\r\nContent-Type: text/plain\r\n"
        b"Content-Length: 3\r\nX-Two: 1\r\nX-Two: 2\r\nCookie: a=1\r\nCookie: b=2\r\nX_Two: evil\r\n"
        b"Script_Name: evil\r\n\r\nabc"
    )

    assert variables.pop("wsgi.errors")
    assert variables.pop("wsgi.input")
    assert variables.pop("meadowlark.held")
    assert int(variables.pop("REMOTE_PORT")) > 0
    assert variables == {
        "REQUEST_METHOD": "POST",
        "PATH_INFO": "/a b/\u00c3\u00a9",
        "QUERY_STRING": "q=%41&r",
        "SERVER_PROTOCOL": "HTTP/1.1",
        "SERVER_NAME": "localhost",
        "SERVER_PORT": "1",
        "REMOTE_ADDR": "127.0.0.1",
        "CONTENT_TYPE": "text/plain",
        "CONTENT_LENGTH": "3",
        "HTTP_HOST": "api.example.org:8000",
        "HTTP_X_TWO": "1,2",
        "HTTP_COOKIE": "a=1; b=2",
        "SCRIPT_NAME": "",
        "wsgi.multiprocess": True,
        "wsgi.multithread": True,
        "wsgi.run_once": False,
        "wsgi.url_scheme": "http",
        "wsgi.version": (1, 0),
    }


def test_a_header_with_a_value_outside_of_ascii_is_present() -> None:
    """Otherwise a precondition would be ignored."""
    assert seen(b"GET / HTTP/1.1\r\n" + HOST + b"If-Match: \xe9\r\n\r\n")["HTTP_IF_MATCH"] == "?"


@pytest.mark.parametrize(
    ("head", "protocol", "closes"),
    [
        (b"GET / HTTP/1.0\r\n\r\n", "HTTP/1.0", True),
        (b"GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n", "HTTP/1.0", False),
        (b"GET / HTTP/1.1\r\n" + HOST + b"\r\n", "HTTP/1.1", False),
        (b"GET / HTTP/1.1\r\nConnection: close\r\n" + HOST + b"\r\n", "HTTP/1.1", True),
    ],
)
def test_connections_are_closed_according_to_the_http_version(head: bytes, protocol: str, closes: bool) -> None:
    def application(variables: dict[str, Any], start: Callable[..., Any]) -> list[bytes]:
        start("200 OK", [])
        return [variables["SERVER_PROTOCOL"].encode()]

    with serving(application) as port, connected(port) as connection:
        connection.sendall(head)
        assert received(connection).body == protocol.encode()
        connection.sendall(head)
        with closing(connection.makefile("rb")) as rest:
            assert (rest.read(1) == b"") is closes


def test_pipelined_requests_are_answered_in_their_order() -> None:
    requests = [b"POST / HTTP/1.1\r\n" + HOST + b"Content-Length: 1\r\n\r\n%d" % number for number in range(9)]
    with serving(echo) as port, connected(port) as connection:
        connection.sendall(b"".join(requests))
        assert [received(connection).body for _ in range(9)] == [b"%d" % number for number in range(9)]


@pytest.mark.parametrize("order", [1, -1])
def test_a_request_with_two_lengths_hides_no_other_request(order: int) -> None:
    """RFC 9112, section 6.1: the chunked coding takes precedence, and the connection is closed."""
    lengths = b"".join([b"Content-Length: 6\r\n", b"Transfer-Encoding: chunked\r\n"][::order])
    hidden = b"GET /hidden HTTP/1.1\r\n" + HOST + b"\r\n"
    paths = []

    def application(variables: dict[str, Any], start: Callable[..., Any]) -> list[bytes]:
        paths.append(variables["PATH_INFO"])
        return echo(variables, start)

    with serving(application) as port, connected(port) as connection:
        connection.sendall(b"POST /seen HTTP/1.1\r\n" + HOST + lengths + b"\r\n0\r\n\r\n" + hidden)
        answer = received(connection)
        assert (answer.status, answer.getheader("Connection"), connection.recv(1)) == (200, "close", b"")
    assert paths == ["/seen"]


@pytest.mark.parametrize(
    "lengths",
    [
        b"Content-Length: 3\r\nContent-Length: 4\r\n",
        b"Content-Length: +3\r\n",
        b"Content-Length: 3, 4\r\n",
        b"Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n",
        b"Transfer-Encoding: chunked, identity\r\n",
        b"Transfer-Encoding : chunked\r\n",
    ],
)
def test_a_request_without_a_clear_length_is_refused(lengths: bytes) -> None:
    with serving(echo) as port, connected(port) as connection:
        connection.sendall(b"POST / HTTP/1.1\r\n" + HOST + lengths + b"\r\n0\r\n\r\n")
        assert received(connection).status == 400


@pytest.mark.parametrize("coding", [b"gzip, chunked", b"Chunked, chunked", b"x, chunked"])
def test_other_transfer_codings_are_refused(coding: bytes) -> None:
    with serving(echo) as port, connected(port) as connection:
        connection.sendall(b"POST / HTTP/1.1\r\n" + HOST + b"Transfer-Encoding: " + coding + b"\r\n\r\n0\r\n\r\n")
        assert received(connection).status == 501


CHUNKED = b"POST / HTTP/1.1\r\n" + HOST + b"Transfer-Encoding: chunked\r\n\r\n"


def test_a_chunked_body_gets_a_length() -> None:
    variables = seen(CHUNKED + b"2\r\nab\r\n1;extension\r\nc\r\n0\r\n\r\n")

    assert variables["CONTENT_LENGTH"] == "3"
    assert "HTTP_TRANSFER_ENCODING" not in variables


@pytest.mark.parametrize("end", [b"x", b"0\r\nA: b\r\n\r\n", b"1\r\nab\r\n0\r\n\r\n"], ids=["size", "trailer", "chunk"])
def test_reading_a_malformed_chunked_body_raises(end: bytes) -> None:
    """Including trailers, which the engine does not distinguish from errors."""
    assert reading(CHUNKED + b"1\r\na\r\n" + end) == "OSError"


@pytest.mark.parametrize("head", [CHUNKED + b"5\r\na", b"POST / HTTP/1.1\r\n" + HOST + b"Content-Length: 5\r\n\r\na"])
def test_reading_a_body_that_ends_early_raises(head: bytes) -> None:
    assert reading(head, ends=True) == "OSError"


def reading(request: bytes, ends: bool = False) -> str:
    """The result of an application that reads the body of this request."""
    outcomes: list[str] = []

    def application(variables: dict[str, Any], start: Callable[..., Any]) -> list[bytes]:
        try:
            outcomes.append(f"{len(variables['wsgi.input'].read())} bytes")
        except OSError as error:
            outcomes.append(type(error).__name__)
        start("200 OK", [])
        return []

    with serving(application) as port, connected(port) as connection:
        connection.sendall(request)
        if ends:
            connection.shutdown(socket.SHUT_WR)
        wait_until(lambda: outcomes, 30)
    return outcomes[0]


@pytest.mark.parametrize("length", [3, LIMIT - 1, LIMIT])
def test_a_body_within_the_limit_is_read_in_whole(length: int) -> None:
    with serving(echo) as port, connected(port) as connection:
        connection.sendall(b"POST / HTTP/1.1\r\n" + HOST + b"Content-Length: %d\r\n\r\n" % length + b"x" * length)
        assert received(connection).body == b"x" * length


@pytest.mark.parametrize("is_chunked", [False, True])
def test_a_longer_body_is_kept_up_to_the_limit_and_one_byte(is_chunked: bool) -> None:
    """The rest is read, too; otherwise the client would lose the answer."""
    body, head = b"x" * 3_000_000, b"Content-Length: 3000000"
    if is_chunked:
        body, head = b"%x\r\n%b\r\n0\r\n\r\n" % (len(body), body), b"Transfer-Encoding: chunked"
    with serving(echo) as port, connected(port) as connection:
        connection.sendall(b"POST / HTTP/1.1\r\n" + HOST + head + b"\r\n\r\n" + body)
        assert received(connection).body == b"x" * (LIMIT + 1)
        connection.sendall(b"GET / HTTP/1.1\r\n" + HOST + b"\r\n")
        assert received(connection).status == 200


def test_expect_continue_is_answered() -> None:
    with serving(echo) as port, connected(port) as connection:
        connection.sendall(b"POST / HTTP/1.1\r\n" + HOST + b"Expect: 100-continue\r\nContent-Length: 3\r\n\r\n")
        assert connection.recv(65536) == b"HTTP/1.1 100 Continue\r\n\r\n"
        connection.sendall(b"abc")
        assert received(connection).body == b"abc"


def slow_heads(connections: ExitStack, port: int, head: bytes, number: int) -> list[socket.socket]:
    slow = [connections.enter_context(connected(port)) for _ in range(number)]
    for each in slow:
        each.sendall(head)
    return slow


@pytest.mark.parametrize(
    "begun",
    [
        b"POST / HTTP/1.1\r\nHo",
        b"POST / HTTP/1.1\r\n" + HOST + b"Content-Length: 9\r\n\r\nabc",
        b"POST / HTTP/1.1\r\n" + HOST + b"Content-Length: 900000\r\n\r\nabc",
        CHUNKED + b"3\r\nabc\r\n",
    ],
    ids=["head", "body", "long body", "chunked body"],
)
def test_slow_senders_occupy_no_thread(begun: bytes) -> None:
    """With forty times as many slow senders as threads, others are answered immediately."""
    with serving(echo) as port, ExitStack() as connections:
        slow_heads(connections, port, begun, 40 * THREADS)
        start = time.monotonic()
        for _ in range(2 * THREADS):
            with connected(port) as quick:
                quick.sendall(b"POST / HTTP/1.1\r\n" + HOST + b"Content-Length: 3\r\n\r\nabc")
                assert received(quick).body == b"abc"
        assert time.monotonic() - start < 20


@pytest.mark.parametrize("length", [b"Content-Length: 900", b"Content-Length: 900000", b"Transfer-Encoding: chunked"])
def test_a_slow_body_is_refused_at_its_deadline(length: bytes) -> None:
    with serving(echo, seconds=1) as port, connected(port) as connection:
        connection.sendall(b"POST / HTTP/1.1\r\n" + HOST + length + b"\r\n\r\n")
        answered = Event()
        with ThreadPoolExecutor(1) as pool:
            dripping = pool.submit(send_slowly, connection, answered, b"1\r\nx\r\n" if b"chunked" in length else b"x")
            answer = received(connection)
            answered.set()
            dripping.result(30)

    assert (answer.status, answer.getheader("Connection")) == (408, "close")
    assert answer.getheader("Content-Type") == "application/problem+json"


def send_slowly(connection: socket.socket, end: Event, part: bytes) -> None:
    while not end.wait(0.05):
        connection.sendall(part)


def test_slow_large_bodies_do_not_block_small_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("meadowlark.serving.request_bodies._MOST_HELD", 500_000)
    large = b"POST / HTTP/1.1\r\n" + HOST + b"Content-Length: 200000\r\n\r\n"
    with serving(echo) as port, ExitStack() as connections:
        slow = slow_heads(connections, port, large + b"x", 3)
        [third], _, _ = select.select(slow, [], [], 30)
        refused = received(third)
        for small in slow_heads(connections, port, b"POST / HTTP/1.1\r\n" + HOST + b"Content-Length: 1\r\n\r\n1", 9):
            assert received(small).body == b"1"
        for each in set(slow) - {third}:
            each.sendall(b"x" * 199_999)
            assert received(each).body == b"x" * 200_000
        [fourth] = slow_heads(connections, port, large + b"x" * 200_000, 1)
        assert received(fourth).status == 200

    assert (refused.status, refused.getheader("Retry-After")) == (503, "5")


LENGTHS = {
    "whole": b"Content-Length: 3\r\n\r\na|bc",
    "chunked": b"Transfer-Encoding: chunked\r\n\r\n1\r\n|a\r\n0\r\n\r\n",
}


@pytest.mark.parametrize("is_gone", [False, True], ids=["answered", "gone"])
@pytest.mark.parametrize("length", LENGTHS.values(), ids=LENGTHS)
def test_objects_of_a_request_are_freed(length: bytes, is_gone: bool) -> None:
    """The engine's objects do not support garbage collection, so cycles with them would never be freed."""
    before, calls = bodies_in_memory(), []

    def application(variables: dict[str, Any], start: Callable[..., Any]) -> list[bytes]:
        start("200 OK", [])
        calls.append(variables["REQUEST_METHOD"])
        return []

    begin, end = (b"POST / HTTP/1.1\r\n" + HOST + length).split(b"|")
    with serving(application) as port:
        for number in range(1, 4):
            with connected(port) as connection:
                connection.sendall(begin)
                wait_until(lambda: bodies_in_memory() > before, 30)
                if not is_gone:
                    connection.sendall(end)
                    received(connection)
            wait_until(lambda number=number: len(calls) == number, 30)
        wait_until(lambda: bodies_in_memory() <= before, 30)


def bodies_in_memory() -> int:
    return sum(issubclass(type(each), RequestBody) for each in gc.get_objects())


def test_a_body_in_very_many_chunks_is_refused() -> None:
    assert reading(CHUNKED + b"1\r\nx\r\n" * 60_000 + b"0\r\n\r\n") == "OSError"


BLOCK = b"x" * 65536


def large(blocks: int, made: list[int], closed: Event) -> Application:
    """An application that answers with this number of blocks, and records those it has produced."""

    def application(_: dict[str, Any], start: Callable[..., Any]) -> Any:
        start("200 OK", [("Content-Length", str(blocks * len(BLOCK)))])
        return Blocks()

    class Blocks:
        def __iter__(self) -> Iterator[bytes]:
            for number in range(blocks):
                made.append(number)
                yield BLOCK

        def close(self) -> None:
            closed.set()

    return application


def test_a_large_answer_is_sent_in_whole() -> None:
    closed = Event()
    with serving(large(1000, [], closed)) as port, closing(HTTPConnection("127.0.0.1", port, timeout=30)) as client:
        for _ in range(2):
            client.request("GET", "/")
            assert client.getresponse().read() == 1000 * BLOCK
            assert closed.wait(30)
            closed.clear()


def test_unread_large_answers_occupy_neither_memory_nor_threads_of_other_requests() -> None:
    made: list[int] = []
    closed = Event()
    sends_large = large(10_000, made, closed)

    def application(variables: dict[str, Any], start: Callable[..., Any]) -> Any:
        return sends_large(variables, start) if variables["PATH_INFO"] == "/large" else echo(variables, start)

    with serving(application, seconds=2) as port, ExitStack() as connections:
        slow_heads(connections, port, b"GET /large HTTP/1.1\r\n" + HOST + b"\r\n", THREADS)
        wait_until(lambda: len(made) > 40, 30)
        with connected(port) as quick:
            quick.sendall(b"GET / HTTP/1.1\r\n" + HOST + b"\r\n")
            assert received(quick).status == 200
        assert closed.wait(30), "given up after two seconds without progress"

    assert len(made) * len(BLOCK) < THREADS * 20 * 2**20


def test_a_disconnected_client_ends_a_large_answer_immediately() -> None:
    made: list[int] = []
    closed = Event()
    with serving(large(10_000, made, closed)) as port:
        with connected(port) as leaving:
            leaving.sendall(b"GET / HTTP/1.1\r\n" + HOST + b"\r\n")
            wait_until(lambda: len(made) > 20, 30)
        assert closed.wait(30), "the time limit is a minute"


LEAST_RATE = "meadowlark.serving.large_answers.LEAST_RATE"


@contextmanager
def serving_from_small_buffers(application: Application, seconds: float) -> Iterator[int]:
    """The port. The system keeps little of an answer, so that the server notices each time when a client has read."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4096)
        with serving_on(listener, application, Event(), seconds):
            yield listener.getsockname()[1]


def slow_reader(connections: ExitStack, port: int, path: bytes) -> socket.socket:
    """A client that has requested this path, and for which the system keeps little."""
    connection = connections.enter_context(socket.socket())
    connection.settimeout(30)
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    connection.connect(("127.0.0.1", port))
    connection.sendall(b"GET " + path + b" HTTP/1.1\r\n" + HOST + b"Connection: close\r\n\r\n")
    return connection


def read_slowly(connection: socket.socket, rate: int, end: Event) -> int:
    """Reads so many bytes per second until the end; returns how many in all."""
    size, begin = 0, time.monotonic()
    while not end.is_set() and (part := connection.recv(4096)):
        size += len(part)
        time.sleep(max(0, begin + size / rate - time.monotonic()))
    return size


def test_clients_that_read_too_slowly_are_disconnected_in_favour_of_others(monkeypatch: pytest.MonkeyPatch) -> None:
    """As many of them as threads that send large answers; they always take some of theirs within the two seconds."""
    monkeypatch.setattr(LEAST_RATE, 1_000_000)
    given_up = Event()
    sends_huge, sends_large = large(10_000, [], given_up), large(100, [], Event())

    def application(variables: dict[str, Any], start: Callable[..., Any]) -> Any:
        return (sends_huge if variables["PATH_INFO"] == "/huge" else sends_large)(variables, start)

    with serving_from_small_buffers(application, seconds=2) as port, ExitStack() as connections:
        slow = [slow_reader(connections, port, b"/huge") for _ in range(THREADS)]
        served = Event()
        with ThreadPoolExecutor(THREADS) as pool, ExitStack() as until_served:
            until_served.callback(served.set)
            reading = [pool.submit(read_slowly, each, 100_000, served) for each in slow]
            assert given_up.wait(15), "they are still served"
            client = connections.enter_context(closing(HTTPConnection("127.0.0.1", port, timeout=15)))
            client.request("GET", "/")
            assert client.getresponse().read() == 100 * BLOCK
            until_served.close()
            taken = [each.result(30) + len(rest(connection)) for each, connection in zip(reading, slow, strict=True)]

    assert max(taken) < 20 * 2**20


def rest(connection: socket.socket) -> bytes:
    """What arrives until the server closes the connection."""
    return b"".join(iter(lambda: connection.recv(65536), b""))


def test_a_client_that_reads_faster_than_the_minimum_gets_all(monkeypatch: pytest.MonkeyPatch) -> None:
    """Even though that takes more than twice as long as a client may take nothing."""
    monkeypatch.setattr(LEAST_RATE, 100_000)
    with serving_from_small_buffers(large(32, [], Event()), seconds=3) as port, ExitStack() as connections:
        assert read_slowly(slow_reader(connections, port, b"/"), 300_000, Event()) > 32 * len(BLOCK)


def test_the_time_in_which_an_answer_is_made_does_not_count(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(LEAST_RATE, 100_000_000)

    def application(_: dict[str, Any], start: Callable[..., Any]) -> Iterator[bytes]:
        start("200 OK", [("Content-Length", str(40 * len(BLOCK)))])
        for _ in range(8):
            yield 5 * BLOCK
            time.sleep(0.4)

    with serving(application, seconds=1) as port, connected(port) as connection:
        connection.sendall(b"GET / HTTP/1.1\r\n" + HOST + b"\r\n")
        assert received(connection).body == 40 * BLOCK


def test_beyond_a_limit_of_memory_large_answers_to_reads_do_not_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    """There is room for two. Another read is refused at once; a write has been executed, and gets its answer."""
    monkeypatch.setattr("meadowlark.serving.large_answers._MOST_WAITING", 3 * 2**20)
    made: list[int] = []
    writes: list[str] = []
    sends_huge, sends_large = large(10_000, made, Event()), large(100, [], Event())

    def application(variables: dict[str, Any], start: Callable[..., Any]) -> Any:
        if variables["REQUEST_METHOD"] == "POST":
            writes.append(variables["PATH_INFO"])
        return (sends_huge if variables["PATH_INFO"] == "/huge" else sends_large)(variables, start)

    get, post = (b"%b / HTTP/1.1\r\n" % method + HOST + b"Content-Length: 0\r\n\r\n" for method in (b"GET", b"POST"))
    with serving(application, seconds=4) as port, ExitStack() as connections:
        for _ in range(THREADS):
            slow_reader(connections, port, b"/huge")
        wait_until(lambda: len(made) > 40, 30)
        reads = slow_heads(connections, port, get, 3)
        [third], _, _ = select.select(reads, [], [], 30)
        refused = received(third)
        [write] = slow_heads(connections, port, post, 1)
        with ThreadPoolExecutor(3) as pool:
            answers = list(pool.map(received, {*reads, write} - {third}))
            assert [each.body == 100 * BLOCK for each in answers] == [True] * 3

    assert (refused.status, refused.getheader("Retry-After")) == (503, "5")
    assert refused.getheader("Content-Type") == "application/problem+json"
    assert writes == ["/"]


def test_connections_stay_open_after_the_engine_stops_accepting_until_their_next_answer() -> None:
    """Of accepted connections, with or without an earlier request; new ones are left to another engine."""
    stopping = Event()
    get = b"GET / HTTP/1.1\r\n" + HOST + b"\r\n"
    with socket.create_server(("127.0.0.1", 0)) as listener, ExitStack() as opened:
        port = listener.getsockname()[1]
        with serving_on(listener, echo, stopping) as first:
            used, fresh = (opened.enter_context(connected(port)) for _ in range(2))
            used.sendall(get)
            assert received(used).getheader("Connection") is None
            wait_until(lambda: accepted(port) == 2, 30)
            first.stop_accepting()
            stopping.set()
            late = opened.enter_context(connected(port))
            for connection in (used, fresh):
                connection.sendall(get)
                assert received(connection).getheader("Connection") == "close"
                assert connection.recv(1) == b""
            late.sendall(get)
            assert accepted(port) == 0
        with serving_on(listener, echo, Event()):
            assert received(late).status == 200


def accepted(port: int) -> int:
    """The number of connections to the port that this process has accepted and not closed."""
    connections = psutil.Process().net_connections("tcp")
    return sum(each.laddr.port == port and each.status == psutil.CONN_ESTABLISHED for each in connections)


def test_an_application_that_raises_is_answered_with_500(caplog: pytest.LogCaptureFixture) -> None:
    def application(variables: dict[str, Any], start: Callable[..., Any]) -> Any:
        raise ValueError(variables["PATH_INFO"])

    with serving(application) as port:
        for _ in range(2 * THREADS):
            with connected(port) as connection:
                connection.sendall(b"GET /x HTTP/1.1\r\n" + HOST + b"\r\n")
                assert received(connection).status == 500

    assert "ValueError: /x" in caplog.text


def test_an_answer_that_fails_is_closed_and_logged() -> None:
    class Failing:
        is_closed = False

        def __iter__(self) -> Iterator[bytes]:
            raise ValueError

        def close(self) -> None:
            self.is_closed = True

    answer, logged = Failing(), []

    def application(_: dict[str, Any], start: Callable[..., Any]) -> Any:
        start("200 OK", [])
        return answer

    def log(_variables: dict[str, Any], status: int, *_: object) -> None:
        logged.append(status)

    with (
        socket.create_server(("127.0.0.1", 0)) as listener,
        serving_on(listener, application, Event(), access_log=log),
        connected(listener.getsockname()[1]) as connection,
    ):
        connection.sendall(b"GET / HTTP/1.1\r\n" + HOST + b"\r\n")
        assert received(connection).status == 500

    assert answer.is_closed
    assert logged == [500]


def test_a_client_is_busy_while_its_second_request_is_processed() -> None:
    """Although the first one ends behind its answer, when the client has sent the second one."""
    busy: dict[object, str] = {}
    may_end_first, may_answer_second = Event(), Event()

    def application(variables: dict[str, Any], start: Callable[..., Any]) -> list[bytes]:
        if variables["PATH_INFO"] == "/second":
            may_answer_second.wait(30)
        start("200 OK", [])
        return [b""]

    def log(variables: dict[str, Any], *_: object) -> None:
        if variables["PATH_INFO"] == "/first":
            may_end_first.wait(30)

    with (
        socket.create_server(("127.0.0.1", 0)) as listener,
        serving_on(listener, application, Event(), busy=busy, access_log=log),
        connected(listener.getsockname()[1]) as connection,
    ):
        for path in (b"/first", b"/second"):
            connection.sendall(b"GET " + path + b" HTTP/1.1\r\n" + HOST + b"\r\n")
            if path == b"/first":
                assert received(connection).status == 200
        wait_until(lambda: len(busy) == 2, 30, "the second request has not arrived")
        may_end_first.set()
        wait_until(lambda: len(busy) == 1, 30, "the first request has not ended")
        assert list(busy.values()) == [f"127.0.0.1:{connection.getsockname()[1]}"]
        may_answer_second.set()
        assert received(connection).status == 200
        wait_until(lambda: not busy, 30, "the second request has not ended")
