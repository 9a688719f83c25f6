"""Well-formed and malformed chunked bodies on every route that reads a body, over a socket."""

import json
import socket

import pytest

from tests.whole.robustness.raw_http import BODY, chunked, whole_answer

MALFORMED = {
    "a trailer without a colon": b"0\r\nnonsense\r\n\r\n",
    "a trailer with a space in its name": b"0\r\nBad Trailer: 1\r\n\r\n",
    "a trailer that may be none": b"0\r\nHost: evil\r\n\r\n",
    "a folded trailer": b"0\r\nA: 1\r\n 2\r\n\r\n",
    "control characters in a trailer": b"0\r\nA: \x01\r\n\r\n",
    "too many trailers": b"0\r\n" + b"A: 1\r\n" * 200 + b"\r\n",
    "endless trailers": b"0\r\n" + b"A: 1\r\n" * 5000,
    "an endless size line": b"1;" + b"x" * 30_000,
    "a size that is none": b"zz\r\n",
    "a chunk without its end": b"3\r\nabcdef\r\n0\r\n\r\n",
}
FORM = "application/x-www-form-urlencoded"


def post(server, path, body, token, content_type="application/json"):
    """The answer to a chunked POST and all bytes after it until the server closes the connection."""
    authorization = f"Authorization: Bearer {token}\r\n" if token else ""
    connection = "Connection: close"
    head = f"POST {path} HTTP/1.1\r\nHost: localhost\r\n{authorization}{connection}\r\nContent-Type: {content_type}\r\n"
    with socket.create_connection(("127.0.0.1", server.port), timeout=10) as connection:
        connection.sendall(f"{head}Transfer-Encoding: chunked\r\n\r\n".encode() + body)
        sent = b"".join(iter(lambda: connection.recv(65536), b""))
    head, _, rest = sent.partition(b"\r\n\r\n")
    return int(head.split()[1]), rest


@pytest.mark.parametrize("path", ["/data/ed-fi/students", "/oauth/token", "/oauth/token_info"])
@pytest.mark.parametrize("body", MALFORMED.values(), ids=MALFORMED)
def test_malformed_chunks_are_the_clients_mistake(real_server, path, body):
    token = "" if path == "/oauth/token" else real_server.token
    status, answer = post(real_server, path, chunked(BODY)[:-5] + body, token)

    assert status == 400
    json.loads(answer)  # One answer, and nothing after it.


@pytest.mark.parametrize(("chunks", "statuses"), [(20_000, {200, 201}), (60_000, {400})])
def test_the_number_of_chunks_is_limited(real_server, chunks, statuses):
    """Chunks of one byte cost a hundred times as much as a single chunk."""
    status, _ = post(real_server, "/data/ed-fi/students", chunked(*[b" "] * chunks, BODY), real_server.token)

    assert status in statuses


@pytest.mark.parametrize("body", MALFORMED.values(), ids=MALFORMED)
def test_malformed_chunks_left_unread_cause_no_second_response(real_server, body):
    status, answer = post(real_server, "/data/ed-fi/students", chunked(BODY)[:-5] + body, "expired")

    assert status == 401
    assert json.loads(answer)["status"] == 401


def test_bytes_behind_malformed_chunks_are_not_read_as_a_request(real_server):
    with socket.create_connection(("127.0.0.1", real_server.port), timeout=10) as connection:
        connection.sendall(b"POST /oauth/token HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n")
        refused = whole_answer(connection)
        connection.sendall(b"GET /health/live HTTP/1.1\r\nHost: localhost\r\n\r\n")

        assert (refused.status, refused.getheader("Connection")) == (400, "close")
        assert connection.recv(65536) == b""


def test_the_log_has_no_traceback_of_malformed_chunks(real_server):
    for body in MALFORMED.values():
        post(real_server, "/data/ed-fi/students", chunked(BODY)[:-5] + body, "expired")
        post(real_server, "/data/ed-fi/students", chunked(BODY)[:-5] + body, real_server.token)

    assert "Traceback" not in real_server.log.read_text()


def test_a_token_is_issued_for_a_chunked_form(real_server):
    form = "&".join(f"{name}={value}" for name, value in real_server.credentials.items()).encode()

    status, answer = post(real_server, "/oauth/token", chunked(form[:20], form[20:]), "", FORM)

    assert status == 200
    assert json.loads(answer)["token_type"] == "bearer"


def test_a_token_is_introspected_by_a_chunked_form(real_server):
    form = f"token={real_server.token}".encode()

    status, answer = post(real_server, "/oauth/token_info", chunked(form), real_server.token, FORM)

    assert status == 200
    assert json.loads(answer)["active"] is True


def test_a_chunked_token_request_is_read_up_to_a_limit(real_server):
    """The limit is 16 kB; the rest is not read."""
    status, answer = post(real_server, "/oauth/token", chunked(*[b"a" * 1000] * 17), "", FORM)

    assert status == 413
    assert json.loads(answer)["error"] == "invalid_request"
