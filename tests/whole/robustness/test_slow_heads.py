"""Requests whose head arrives slowly, in parts or never do not delay others."""

import socket
import time
from contextlib import ExitStack

import pytest

from tests.support.server_processes import constant_view
from tests.whole.robustness.raw_http import whole_answer

GET = b"GET /x HTTP/1.1\r\nHost: localhost\r\n\r\n"
HALF = GET[:25]
# The default of the settings.
THREADS, REQUEST_SECONDS = 16, 60


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    """The port and the process of a server with the default timeout of a minute for the rest of a request."""
    with constant_view(tmp_path_factory.mktemp("home") / "home") as running:
        yield running


def connected(port):
    return socket.create_connection(("127.0.0.1", port), timeout=REQUEST_SECONDS)


@pytest.mark.parametrize("before", [b"", GET], ids=["new", "kept alive"])
def test_incomplete_request_heads_do_not_block_others(server, before):
    port, _ = server
    start = time.monotonic()
    with ExitStack() as held:
        for _ in range(2 * THREADS):
            slow = held.enter_context(connected(port))
            if before:
                slow.sendall(before)
                assert whole_answer(slow).status == 200
            slow.sendall(HALF)
        for _ in range(THREADS):
            with connected(port) as quick:
                quick.sendall(GET)
                assert whole_answer(quick).status == 200

    assert time.monotonic() - start < REQUEST_SECONDS / 4


@pytest.mark.parametrize("pieces", [2, 5, len(GET)])
def test_a_head_in_parts_is_answered(server, pieces):
    port, _ = server
    size = -(-len(GET) // pieces)
    with connected(port) as slow:
        slow.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for _ in range(2):
            for start in range(0, len(GET), size):
                slow.sendall(GET[start : start + size])
                time.sleep(0.01)  # So that each part is a separate packet.
            assert whole_answer(slow).status == 200


def test_a_request_followed_by_half_of_the_next_is_answered_and_so_is_the_next(server):
    port, _ = server
    with connected(port) as slow:
        for _ in range(3):
            slow.sendall(GET + HALF)
            assert whole_answer(slow).status == 200
            slow.sendall(GET[len(HALF) :])
            assert whole_answer(slow).status == 200


def test_bytes_that_are_no_request_head_are_refused_immediately(server):
    """As sent by a TLS client."""
    port, _ = server
    with connected(port) as wrong:
        wrong.sendall(b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03")
        assert whole_answer(wrong).status == 400


def test_a_too_long_head_is_refused_before_it_ends(server):
    """A thousand connections with almost a megabyte each would take a gigabyte."""
    port, _ = server
    with connected(port) as long:
        long.sendall(b"GET /x HTTP/1.1\r\n" + b"A: %b\r\n" % (b"x" * 8000) * 20)
        assert whole_answer(long).status == 431


@pytest.mark.long
def test_a_request_head_that_never_ends_is_closed(tmp_path):
    """Even if parts of it keep arriving."""
    with (
        constant_view(tmp_path / "home", MEADOWLARK_KEEPALIVE_SECONDS="1") as (port, _),
        connected(port) as dripping,
        pytest.raises(OSError),
    ):
        end = time.monotonic() + 60
        dripping.sendall(HALF)
        while time.monotonic() < end:
            dripping.sendall(b"x")
            time.sleep(0.1)


@pytest.mark.long
def test_an_incomplete_request_head_is_answered_during_shutdown(tmp_path):
    with constant_view(tmp_path / "home") as (port, gunicorn), connected(port) as slow, connected(port) as idle:
        idle.sendall(GET)
        assert whole_answer(idle).status == 200
        slow.sendall(HALF)
        with connected(port) as other:  # Answered after the incomplete head has been read.
            other.sendall(GET)
            assert whole_answer(other).status == 200
        gunicorn.terminate()
        assert idle.recv(1) == b"", "idle connections end at once"
        slow.sendall(GET[len(HALF) :])
        assert whole_answer(slow).status == 200
        gunicorn.wait(15)
