"""Batches over real HTTP: large ones, slow ones, and servers that are killed while they work one off."""

import contextlib
import gzip
import http.client
import json
import re
import signal
import socket
import threading
from collections.abc import Iterator

import psutil
import psycopg
import pytest

from tests.whole.robustness.memory import needs_peaks, peak, reset_peak
from tests.whole.robustness.real_server import RealServer
from tests.whole.robustness.waiting import wait_until

MOST_GROWTH = 100 * 2**20
LINES = "application/x-ndjson"


def descriptor(number: int, text: str = "x") -> dict:
    document = {
        "namespace": "uri://ed-fi.org/TermDescriptor",
        "codeValue": f"Term {number}",
        "shortDescription": text[:70],
        "ignored": text,
    }
    return {"resource": "/ed-fi/termDescriptors", "document": document}


def post(server: RealServer, body, query: str = "", **headers: str):
    """Status and parts of the answer; an iterator is sent in chunks."""
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
    sent = {"Authorization": f"Bearer {server.token}", "Content-Type": LINES} | headers
    connection.request("POST", f"/batch{query}", body, sent, encode_chunked=not isinstance(body, bytes))
    response = connection.getresponse()
    content = response.read()
    connection.close()
    if response.headers["Content-Type"] == LINES:
        return response.status, [json.loads(line) for line in content.splitlines()]
    return response.status, json.loads(content)


def lines(operations) -> bytes:
    return b"".join(json.dumps(operation).encode() + b"\n" for operation in operations)


def stored_terms(server: RealServer) -> set[str]:
    with psycopg.connect(server.database_url) as connection:
        rows = connection.execute(
            "SELECT body ->> 'codeValue' FROM document WHERE body ->> 'codeValue' ~ '^Term [0-9]+$'"
        )
        return {value for (value,) in rows}


@needs_peaks
@pytest.mark.parametrize("is_chunked", [False, True])
def test_a_batch_far_beyond_a_single_body_takes_little_memory(real_server, is_chunked):
    large = "x" * 20_000
    body = lines(descriptor(number % 50, large) for number in range(2_000))
    assert len(body) > 40_000_000
    before = {worker.pid: reset_peak(worker) for worker in real_server.workers()}
    sent = (body[start : start + 65_536] for start in range(0, len(body), 65_536)) if is_chunked else body

    status, results = post(real_server, sent, "?mode=independent")

    assert (status, len(results)) == (200, 2_001)
    assert results[-1]["summary"]["succeeded"] == 2_000
    assert max(peak(psutil.Process(pid)) - size for pid, size in before.items()) < MOST_GROWTH


def test_a_body_beyond_the_limit_is_refused(real_server):
    bomb = gzip.compress(b" " * (65 * 2**20))

    assert post(real_server, bomb, **{"Content-Encoding": "gzip"})[0] == 413
    blocks = (b" " * 2**20 for _ in range(65))
    status, problem = post(real_server, blocks)
    assert (status, problem["type"]) == (413, "urn:ed-fi:api:content-too-large")


def test_a_slow_sender_holds_no_thread(real_server):
    senders = []
    for _ in range(10):
        sender = socket.create_connection(("127.0.0.1", real_server.port))
        head = f"POST /batch HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {real_server.token}\r\n"
        sender.sendall(f"{head}Content-Type: {LINES}\r\nContent-Length: 1000\r\n\r\n{{".encode())
        senders.append(sender)

    status, _ = post(real_server, lines([descriptor(1)]))

    assert status == 200
    assert all(sender.recv(20).startswith(b"HTTP/1.1 408") for sender in senders)


def test_a_reader_that_reads_nothing_blocks_nobody(real_server):
    body = lines(descriptor(number % 50) for number in range(20_000))
    head = f"POST /batch?mode=independent HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {real_server.token}\r\n"
    readers = []
    for _ in range(3):
        reader = socket.create_connection(("127.0.0.1", real_server.port))
        reader.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        reader.sendall(f"{head}Content-Type: {LINES}\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body)
        readers.append(reader)

    status, _ = post(real_server, lines([descriptor(1)]))

    assert status == 200
    for reader in readers:
        reader.close()


@pytest.fixture(scope="module")
def one_worker(tmp_path_factory, prepared_home) -> Iterator[RealServer]:
    with RealServer(
        prepared_home(tmp_path_factory.mktemp("killed") / "home"),
        MEADOWLARK_WORKERS="1",
        MEADOWLARK_LOCK_SECONDS="30",
        MEADOWLARK_STATEMENT_SECONDS="30",
    ) as server:
        yield server


@pytest.mark.parametrize(
    ("mode", "begun"), [pytest.param("atomic", 5_000, marks=pytest.mark.long), ("independent", 10_000)]
)
def test_a_worker_that_is_killed_leaves_whole_sets(one_worker, mode, begun):
    server = one_worker
    # Short enough for sets of 2,000, which take the share of memory of a batch at most.
    body = lines(descriptor(number, "x" * 100) for number in range(begun, begun + 5_000))
    before = stored_terms(server)
    sender = threading.Thread(target=lambda: refused_by_death(server, body, mode))
    sender.start()
    wait_until(lambda: is_writing(server) if mode == "atomic" else stored_terms(server) > before, 30)

    server.workers()[0].send_signal(signal.SIGKILL)

    sender.join(30)
    wait_until(lambda: not is_writing(server), 30)
    stored = stored_terms(server) - before
    assert len(stored) in ({0} if mode == "atomic" else {2_000, 4_000, 5_000})
    wait_until(server.workers, 30)
    status, results = post(server, body, f"?mode={mode}")
    assert (status, len(stored_terms(server) - before)) == (200, 5_000)
    assert results[-1]["summary"]["byStatus"].get("200", 0) == len(stored)


SETS, OF_A_SET = 4, 3


@pytest.mark.parametrize(
    ("mode", "waiting"),
    [
        ("atomic", 3),
        ("independent", 1),
        pytest.param("atomic", 1, marks=pytest.mark.long),
        pytest.param("independent", 3, marks=pytest.mark.long),
    ],
)
def test_a_worker_that_is_killed_in_one_of_several_sets(one_worker, mode, waiting):
    """The set waits for a lock of the test, so it is known where the worker is killed."""
    server, first = one_worker, 60_000 + 1_000 * waiting + 100 * (mode == "atomic")
    resources = ["/ed-fi/termDescriptors", "/ed-fi/gradeLevelDescriptors"]
    numbers = [range(first + 10 * each, first + 10 * each + OF_A_SET) for each in range(SETS)]
    sent = [descriptor(number) | {"resource": resources[each % 2]} for each in range(SETS) for number in numbers[each]]
    awaited = f"Term {numbers[waiting][1]}"
    post(server, lines(each for each in sent if each["document"]["codeValue"] == awaited))
    change = [each | {"document": each["document"] | {"description": "changed"}} for each in sent]

    with psycopg.connect(server.database_url) as own:
        own.execute("SELECT FROM document WHERE body ->> 'codeValue' = %s FOR UPDATE", [awaited])
        sender = threading.Thread(target=lambda: refused_by_death(server, lines(change), mode))
        sender.start()
        wait_until(lambda: is_waited_for(server, own.info.backend_pid), 30)
        server.workers()[0].send_signal(signal.SIGKILL)
        sender.join(30)
    wait_until(lambda: not is_writing(server), 30)

    stored = [[number in changed_since(server, first) for number in each] for each in numbers]
    whole, none = [True] * OF_A_SET, [False] * OF_A_SET
    if mode == "atomic":
        assert stored == [none] * SETS
    else:
        assert stored[:waiting] == [whole] * waiting
        assert stored[waiting] in (whole, none)
        assert stored[waiting + 1 :] == [none] * (SETS - waiting - 1)
    wait_until(server.workers, 30)
    assert post(server, lines(change), f"?mode={mode}")[0] == 200
    assert changed_since(server, first) == {number for each in numbers for number in each}


@pytest.mark.long
def test_results_are_sent_while_a_batch_is_worked_off_and_what_is_sent_is_on_disk(one_worker):
    server, count, first = one_worker, 10_000, 20_000
    with begun(server, lines(descriptor(number) for number in range(first, first + count))) as answer:
        received = answer.read(100_000)
        is_under_way = len(stored_since(server, first)) < count

        server.workers()[0].send_signal(signal.SIGKILL)

        with contextlib.suppress(OSError, http.client.HTTPException):
            while block := answer.read1(2**20):
                received += block
    wait_until(lambda: not is_writing(server), 30)
    wait_until(server.workers, 30)
    stored = stored_since(server, first)
    results = [json.loads(line) for line in received.split(b"\n")[:-1]]
    assert is_under_way
    assert len(results) > 200
    assert {first + result["index"] for result in results} <= stored
    assert len(stored) < count


@pytest.mark.long
def test_a_batch_of_a_client_that_has_gone_ends(one_worker):
    server, count, first = one_worker, 20_000, 40_000
    before = batches_that_ended(server)

    with begun(server, lines(descriptor(number) for number in range(first, first + count))) as answer:
        assert answer.read(1000)

    wait_until(lambda: batches_that_ended(server) > before, 30)
    assert 0 < len(stored_since(server, first)) < count


@contextlib.contextmanager
def begun(server: RealServer, body: bytes) -> Iterator[http.client.HTTPResponse]:
    """The answer to an independent batch, as far as it has come."""
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
    headers = {"Authorization": f"Bearer {server.token}", "Content-Type": LINES}
    connection.request("POST", "/batch?mode=independent", body, headers)
    try:
        yield connection.getresponse()
    finally:
        connection.close()


def batches_that_ended(server: RealServer) -> int:
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
    connection.request("GET", "/metrics")
    text = connection.getresponse().read().decode()
    connection.close()
    found = re.search(r"^meadowlark_batch_size_count (\S+)$", text, re.MULTILINE)
    return int(float(found[1])) if found else 0


def stored_since(server: RealServer, first: int) -> set[int]:
    numbers = {int(value.removeprefix("Term ")) for value in stored_terms(server)}
    return {number for number in numbers if number >= first}


def changed_since(server: RealServer, first: int) -> set[int]:
    with psycopg.connect(server.database_url) as connection:
        query = "SELECT body ->> 'codeValue' FROM document WHERE body ->> 'description' = 'changed'"
        numbers = {int(value.removeprefix("Term ")) for (value,) in connection.execute(query)}
    return {number for number in numbers if first <= number < first + 100}


def is_waited_for(server: RealServer, pid: int) -> bool:
    """Whether a session waits for a lock of this one."""
    with psycopg.connect(server.database_url) as connection:
        query = "SELECT EXISTS (SELECT FROM pg_stat_activity WHERE %s = ANY (pg_blocking_pids(pid)))"
        return connection.execute(query, [pid]).fetchone() == (True,)


def refused_by_death(server: RealServer, body: bytes, mode: str) -> None:
    with contextlib.suppress(OSError, http.client.HTTPException):
        post(server, body, f"?mode={mode}")


def is_writing(server: RealServer) -> bool:
    """Whether there is a transaction that has written something."""
    with psycopg.connect(server.database_url) as connection:
        query = "SELECT count(*) > 0 FROM pg_stat_activity WHERE backend_xid IS NOT NULL AND pid <> pg_backend_pid()"
        return connection.execute(query).fetchone() == (True,)
