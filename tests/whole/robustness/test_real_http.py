"""Unusual and malformed HTTP, sent to a server over a socket."""

import gzip
import http.client
import json
import shutil
import signal
import socket
import time
from contextlib import ExitStack
from functools import partial
from itertools import cycle, islice

import httpx
import psutil
import pytest

from tests.support.server_processes import constant_view
from tests.whole.robustness.raw_http import BODY, all_threads_answer, chunked, exchange, whole_answer


def test_a_chunked_body_is_read(real_server):
    status, _ = exchange(real_server, "Transfer-Encoding: chunked", chunked(BODY[:10], BODY[10:]))

    assert status in (200, 201)


@pytest.mark.parametrize(
    ("head", "body"),
    [
        (f"Content-Length: {len(BODY) + 50}", BODY),
        (f"Content-Length: {len(BODY) - 5}", BODY),
        ("Content-Length: 0", BODY),
        ("Content-Length: -1", BODY),
        ("Content-Length: 1e3", BODY),
        ("Content-Length: 99999999999999999999", BODY),
        (f"Content-Length: {len(BODY)}\r\nContent-Length: 3", BODY),
        ("Transfer-Encoding: chunked", BODY),
        ("Transfer-Encoding: chunked", chunked(BODY)[:-7]),
        ("Transfer-Encoding: chunked", b"-5\r\n" + BODY),
        ("Transfer-Encoding: chunked", b"5\r\n" + BODY + b"\r\n0\r\n\r\n"),
        ("Transfer-Encoding: chunked", b"ffffffffffffffffffff\r\n" + BODY),
        ("Transfer-Encoding: chunked", b"zz\r\n"),
        ("Transfer-Encoding: chunked", b""),
        ("Transfer-Encoding: gzip, chunked", chunked(gzip.compress(BODY))),
        ("Transfer-Encoding: identity", BODY),
        ("Transfer-Encoding: ", BODY),
        ("X-Bad Header: 1", BODY),
    ],
)
def test_a_body_that_does_not_match_its_headers_is_a_bad_request(real_server, head, body):
    status, answer = exchange(real_server, head, body, ends=True)

    assert status is None or 400 <= status < 500 or status == 501, answer


def test_a_body_that_ends_early_is_a_problem(real_server):
    status, answer = exchange(real_server, "Content-Length: 500", BODY, ends=True)

    assert status == 400
    assert json.loads(answer)["validationErrors"].keys() == {"$."}


def test_the_connection_survives_a_large_body_that_was_refused_unread(real_server):
    """As sent by a client whose token has expired, and which continues with a new one."""
    connection = http.client.HTTPConnection("127.0.0.1", real_server.port, timeout=30)
    connection.auto_open = 0
    connection.connect()
    body = b"x" * 1_000_000

    for _ in range(2):
        connection.request("POST", "/data/ed-fi/students", body, {"Authorization": "Bearer expired"})
        refused = connection.getresponse()
        assert (refused.status, len(refused.read()) > 0) == (401, True)
    connection.request("GET", "/data/ed-fi/students", headers={"Authorization": f"Bearer {real_server.token}"})
    assert connection.getresponse().status == 200


def test_a_request_pipelined_after_a_refused_one_is_answered(real_server):
    path = "/data/ed-fi/students HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer"
    with socket.create_connection(("127.0.0.1", real_server.port), timeout=30) as connection:
        connection.sendall(f"POST {path} expired\r\nContent-Length: 4\r\n\r\nbo".encode())
        connection.sendall(f"dyGET {path} {real_server.token}\r\n\r\n".encode())
        assert whole_answer(connection).status == 401
        assert whole_answer(connection).status == 200


def test_a_chunked_body_over_the_limit_is_refused(real_server):
    chunk = b" " * 1_000_000

    status, answer = exchange(real_server, "Transfer-Encoding: chunked", chunked(*[chunk] * 11, BODY))

    assert status == 413
    assert json.loads(answer)["type"] == "urn:ed-fi:api:content-too-large"


POST = (
    b"POST /data/ed-fi/students HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %b\r\nContent-Length: %d\r\n\r\n"
)


@pytest.mark.parametrize("part", ["head", "body", "unread body"])
def test_clients_that_stop_sending_do_not_block_others(real_server, part):
    """With more clients than threads, which disconnect in the middle of a request."""
    token = b"expired" if part == "unread body" else real_server.token.encode()
    head = POST % (token, 5000)
    with ExitStack() as connections:
        for _ in range(9):
            address = ("127.0.0.1", real_server.port)
            slow = connections.enter_context(socket.create_connection(address))
            slow.sendall(head[:60] if part == "head" else head)
        assert all_threads_answer(real_server, timeout=60)


def test_silent_clients_do_not_block_others(real_server):
    with ExitStack() as connections:
        for _ in range(60):
            connections.enter_context(socket.create_connection(("127.0.0.1", real_server.port)))
        assert all_threads_answer(real_server, timeout=60)


@pytest.mark.skipif(not shutil.which("prlimit"), reason="nothing here limits the files of a process")
def test_idle_connections_do_not_block_new_ones(tmp_path):
    """Also with more connections than a worker may have open files, which would otherwise end the worker."""
    with constant_view(tmp_path / "home", within=["prlimit", "--nofile=200"]) as (port, _):
        assert_new_connections_are_answered_beside_idle_ones(port, b"")  # Silent from the beginning.
        assert_new_connections_are_answered_beside_idle_ones(port, b"GET /x HTTP/1.1\r\nHost: localhost\r\n\r\n")
        assert_new_connections_are_answered_beside_idle_ones(port, b"", HALF_SENT)
        assert_new_connections_are_answered_beside_idle_ones(port, HALF_SENT)

    # Many half-sent bodies that end at the same time may be too many requests of one address.
    refused = "problem=urn:ed-fi:api:too-many-requests"
    lines = (tmp_path / "home.constant.log").read_text().splitlines()
    assert [line for line in lines if refused not in line] == []


HALF_SENT = b"POST /x HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\nabc"


def assert_new_connections_are_answered_beside_idle_ones(port, *words):
    """`words` are what the idle connections have sent, in turn. A half-sent body is ended by its deadline only after a
    minute."""
    with ExitStack() as idle:
        for sent in islice(cycle(words), 450):
            idle.enter_context(socket.create_connection(("127.0.0.1", port))).sendall(sent)
        for _ in range(5):
            new = idle.enter_context(socket.create_connection(("127.0.0.1", port), timeout=30))
            time.sleep(0.1)  # A new connection that sends its request late is not closed before older idle ones.
            new.sendall(b"GET /x HTTP/1.1\r\nHost: localhost\r\n\r\n")
            assert whole_answer(new).status == 200


def test_clients_that_do_not_close_do_not_block_others(real_server):
    """Each gets the end of its connection immediately, not after others have closed theirs."""
    start = time.monotonic()
    with ExitStack() as connections:
        quiet = [
            connections.enter_context(socket.create_connection(("127.0.0.1", real_server.port), timeout=60))
            for _ in range(60)
        ]
        for each in quiet:
            each.sendall(b"GET /health/live HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
        answers = [b"".join(iter(partial(each.recv, 65536), b"")) for each in quiet]

    assert all(answer.startswith(b"HTTP/1.1 200 ") for answer in answers)
    assert time.monotonic() - start < 60


def test_a_body_that_never_arrives_is_a_problem(real_server):
    status, answer = exchange(real_server, "Content-Length: 500", BODY)

    assert status == 408
    assert json.loads(answer)["errors"] == ["The body of the request did not arrive in time."]


CHARSETS_THAT_READ_OTHERWISE = {
    "base64": "limit=1",
    "undefined": "limit=1",
    "punycode": "limit=1",
    "utf-7": "studentUniqueId=%2B2AA-",
    "unicode_escape": "firstName=%5Cud800",
}


@pytest.mark.parametrize("charset", CHARSETS_THAT_READ_OTHERWISE)
def test_a_charset_in_the_content_type_changes_nothing(real_server, charset):
    url = f"http://127.0.0.1:{real_server.port}/data/ed-fi/students?{CHARSETS_THAT_READ_OTHERWISE[charset]}"
    headers = {"Authorization": f"Bearer {real_server.token}"}

    plain = httpx.get(url, headers=headers)
    answer = httpx.get(url, headers=headers | {"Content-Type": f"application/json; charset={charset}"})

    assert plain.status_code == 200
    assert (answer.status_code, answer.content) == (200, plain.content)


@pytest.mark.parametrize(
    ("request_", "status"),
    [
        (b"no request at all\r\n\r\n", 400),
        (b"GET /a\0b HTTP/1.1\r\nHost: localhost\r\n\r\n", 400),
        (b"GET / HTTP/1.1\r\nHost: localhost\r\nX: a\0b\r\n\r\n", 400),
        (b"GET / HTTP/1.1\r\nHost: localhost\r\nX-Bad Header: 1\r\n\r\n", 400),
        (b"GET /" + b"x" * 66_000 + b" HTTP/1.1\r\n\r\n", 414),
        (b"GET / HTTP/1.1\r\nHost: localhost\r\n" + b"A: 1\r\n" * 101 + b"\r\n", 431),
    ],
)
def test_malformed_requests_are_refused_by_the_engine(real_server, request_, status):
    """With a status only, before the application is called."""
    with socket.create_connection(("127.0.0.1", real_server.port), timeout=10) as connection:
        connection.sendall(request_)
        head, _, body = b"".join(iter(lambda: connection.recv(65536), b"")).partition(b"\r\n\r\n")

    assert head.startswith(b"HTTP/1.1 %d " % status)
    assert b"connection: close" in head
    assert body == b""


def test_an_answer_to_head_has_its_content_length_and_is_not_logged(real_server):
    answer = httpx.head(f"http://127.0.0.1:{real_server.port}/health/live")

    assert answer.status_code == 200
    assert int(answer.headers["content-length"]) > 0
    assert "no-body response" not in real_server.log.read_text()


@pytest.mark.parametrize("path", ["/data/ed-fi/students?totalCount=true", "/data/ed-fi/unknowns"])
def test_the_connection_is_usable_after_head(real_server, path):
    """A body after the headers would be read as the beginning of the next answer."""
    headers = {"Authorization": f"Bearer {real_server.token}"}
    connection = http.client.HTTPConnection("127.0.0.1", real_server.port, timeout=30)
    connection.auto_open = 0
    connection.connect()

    answers = []
    for method in ("HEAD", "GET", "HEAD"):
        connection.request(method, path, headers=headers)
        answer = connection.getresponse()
        answers.append((answer.status, answer.getheader("Content-Length"), len(answer.read())))

    status, length, size = answers[1]
    assert answers == [(status, length, 0), (status, str(size), size), (status, length, 0)]
    assert "no-body response" not in real_server.log.read_text()


@pytest.mark.long
def test_clients_that_disconnect_during_shutdown_cause_no_error(tmp_path):
    """Of its workers twice, and of the server."""
    with constant_view(tmp_path / "home") as (port, gunicorn):
        for stop in (signal.SIGHUP, signal.SIGHUP, signal.SIGTERM):
            with ExitStack() as idle:
                for _ in range(200):
                    client = idle.enter_context(socket.create_connection(("127.0.0.1", port), timeout=60))
                    client.sendall(b"GET /x HTTP/1.1\r\nHost: localhost\r\n\r\n")
                    assert whole_answer(client).status == 200
                stopped = gunicorn.children()
                gunicorn.send_signal(stop)
            _, left = psutil.wait_procs(stopped, timeout=30)
            assert left == []
        gunicorn.wait(30)

    # Many half-sent bodies that end at the same time may be too many requests of one address.
    refused = "problem=urn:ed-fi:api:too-many-requests"
    lines = (tmp_path / "home.constant.log").read_text().splitlines()
    assert [line for line in lines if refused not in line] == []
