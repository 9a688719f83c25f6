"""The memory of a worker is bounded, whatever arrives by however many clients at once, and is given back."""

import http.client
import json
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Any, NamedTuple

import psycopg
import pytest

from edfi_api.common.conf import DEFAULTS
from edfi_api.core.documents.json_text import MOST_VALUES
from tests.whole.robustness.memory import needs_peaks, peak, reset_peak
from tests.whole.robustness.real_server import RealServer

MOST_MEMORY = 300 * 2**20
LARGEST = DEFAULTS["MAX_BODY_BYTES"]
CLIENTS = 10
ANSWERED = {200, 201, 400, 413}
REFUSED_FOR_LOAD = {429, 503}

STUDENTS = "/data/ed-fi/students"
TERMS = "/data/ed-fi/termDescriptors"
STUDENT = {"studentUniqueId": "1", "firstName": "Mae", "lastSurname": "Ortiz", "birthDate": "2010-02-03"}
LINES = "application/x-ndjson"

pytestmark = [needs_peaks, pytest.mark.long]


class Answer(NamedTuple):
    status: int
    retry_after: str | None
    body: bytes


class Worker:
    """The only worker of a server."""

    def __init__(self, server: RealServer) -> None:
        self._server = server
        [self.process] = server.workers()

    def send(self, method: str, path: str, body: bytes | None = None, content_type: str = "application/json") -> Answer:
        """Large answers are read, but not kept."""
        connection = http.client.HTTPConnection("127.0.0.1", self._server.port, timeout=300)
        headers = {"Authorization": f"Bearer {self._server.token}", "Content-Type": content_type}
        with suppress(BrokenPipeError, ConnectionResetError):  # It may be refused before it has been read.
            connection.request(method, path, body, headers)
        response = connection.getresponse()
        start = response.read(2**20)
        while response.read(2**20):
            pass
        connection.close()
        return Answer(response.status, response.headers["Retry-After"], start)

    def at_once(self, clients: int, send: Callable[[], Answer]) -> list[Answer]:
        """Their answers. Some are answered; others may be refused because of the load, and are told when to return."""
        reset_peak(self.process)
        with ThreadPoolExecutor(clients) as pool:
            answers = [each.result() for each in [pool.submit(send) for _ in range(clients)]]
        statuses = {answer.status for answer in answers}
        assert statuses & ANSWERED
        assert statuses <= ANSWERED | REFUSED_FOR_LOAD
        assert all(answer.retry_after for answer in answers if answer.status in REFUSED_FOR_LOAD)
        return answers

    @property
    def peak(self) -> int:
        return peak(self.process)


@pytest.fixture(scope="module")
def worker(tmp_path_factory, prepared_home) -> Iterator[Worker]:
    home = prepared_home(tmp_path_factory.mktemp("memory") / "home")
    seconds = {f"MEADOWLARK_{name}_SECONDS": "120" for name in ("STATEMENT", "REQUEST", "BATCH")}
    with RealServer(home, MEADOWLARK_WORKERS="1", MEADOWLARK_THREADS="8", **seconds) as server:
        worker = Worker(server)
        assert worker.send("POST", STUDENTS, json.dumps(STUDENT).encode()).status == 201
        large = {"namespace": "uri://ed-fi.org/TermDescriptor", "codeValue": "Model", "shortDescription": "Large"}
        assert worker.send("POST", TERMS, json.dumps(large).encode()).status == 201
        yield worker


def operation(number: int, **members: Any) -> dict[str, Any]:
    return {"resource": "/ed-fi/students", "document": STUDENT | {"studentUniqueId": f"{number}"} | members}


def lines(operations: Iterator[dict[str, Any]]) -> bytes:
    return "\n".join(json.dumps(each, separators=(",", ":")) for each in operations).encode()


VIOLATIONS = {"otherNames": [{"middleName": "B"}] * 4_000}
BATCHES = {
    "many violations": (VIOLATIONS, 100),
    "few violations in many documents": ({"otherNames": [{}] * 34}, 2_500),
    "small documents that are refused": ({"lastSurname": None, "middleName": "x" * 330}, 100_000),
    "many values": ({"unknown": [[]] * 40_000}, 40),
    "large documents": ({"unknown": "é" * 1_000_000}, 30),
}


# `make test-long` sends all batches and documents, the gate those that take most.
@pytest.mark.parametrize("query", ["mode=atomic", pytest.param("mode=independent&order=free", marks=pytest.mark.long)])
@pytest.mark.parametrize(
    "batch",
    [pytest.param(each, marks=[] if each == "many violations" else pytest.mark.long) for each in BATCHES],
)
def test_batches_of_any_operations(worker, batch, query):
    members, number = BATCHES[batch]
    body = lines(operation(position, **members) for position in range(number))

    worker.at_once(3, lambda: worker.send("POST", f"/batch?{query}", body, LINES))

    assert worker.peak < MOST_MEMORY


def test_more_batches_than_are_executed_at_once(worker):
    body = lines(operation(position, **VIOLATIONS) for position in range(30))

    worker.at_once(CLIENTS, lambda: worker.send("POST", "/batch", body, LINES))

    assert worker.peak < MOST_MEMORY


@pytest.mark.long
def test_a_batch_without_line_breaks(worker):
    body = json.dumps([operation(n, unknown="x" * 1_000_000) for n in range(60)]).encode()

    worker.at_once(3, lambda: worker.send("POST", "/batch?mode=independent", body))

    assert worker.peak < MOST_MEMORY


def items(item: str, length: int = LARGEST - 1000) -> str:
    """Return as many items as fit into a body."""
    return f"[{item}" + f",{item}" * min(length // (len(item) + 1) - 1, MOST_VALUES - 1000) + "]"


DOCUMENTS = {
    "a long text": '"' + "a" * (LARGEST - 1000) + '"',
    "a long text of wide characters": '"' + "a" * (LARGEST - 1000) + '😀"',
    "a long text with a wide escape": '"' + "a" * (LARGEST - 1000) + r'\ud83d\ude00"',
    "a long text with a quote as an escape": '"' + "a" * (LARGEST - 1000) + r'\u0022\ud83d\ude00"',
    "a long text and a repeated member": '"' + "a" * (LARGEST - 1000) + r'\ud83d\ude00", "birthDate": "2010-01-01"',
    "escapes": '"' + r"\u0041" * (LARGEST // 6 - 200) + '"',
    "long names": "{" + ",".join(f'"{n:090}":1' for n in range(MOST_VALUES - 1000)) + "}",
    "objects": items('{"a":1}', 390_000),
    "long numbers": items("0." + "7" * 90),
    "one long number": "9" * (LARGEST - 1000),
    "depth": f'{{"{"n" * 40_000}":' * 250 + "1" + "}" * 250,
}


_LARGEST_SHAPES = {"a long text with a wide escape", "a long text and a repeated member", "long names"}


@pytest.mark.parametrize(
    "shape", [pytest.param(each, marks=() if each in _LARGEST_SHAPES else pytest.mark.long) for each in DOCUMENTS]
)
def test_large_documents(worker, shape):
    body = (json.dumps(STUDENT)[:-1] + f', "unknown": {DOCUMENTS[shape]}}}').encode()

    worker.at_once(CLIENTS, lambda: worker.send("POST", STUDENTS, body))

    assert worker.peak < MOST_MEMORY


@pytest.mark.parametrize("item", [{"middleName": "B"}, {"firstName": "a" * 300}], ids=["short", "long"])
def test_documents_with_many_violations(worker, item):
    body = json.dumps(STUDENT | {"otherNames": [item] * 25_000}).encode()

    worker.at_once(CLIENTS, lambda: worker.send("POST", STUDENTS, body))

    assert worker.peak < MOST_MEMORY


# Larger than the API accepts for descriptors. PostgreSQL stores less than a hundredth of such texts.
_LARGE_DOCUMENTS = """
INSERT INTO document (document_uuid, resource_type_id, body)
SELECT gen_random_uuid(), resource_type_id, body || jsonb_build_object('codeValue', 'Large ' || number,
       'description', repeat('a', 3000000))
  FROM document d, generate_series(1, 20) number WHERE d.natural_key LIKE '%#Model'
"""


def test_pages_of_large_documents(worker):
    with psycopg.connect(worker._server.database_url) as connection:
        connection.execute(_LARGE_DOCUMENTS)

    worker.at_once(CLIENTS, lambda: worker.send("GET", f"{TERMS}?shortDescription=Large&limit=500"))

    assert worker.peak < MOST_MEMORY


@pytest.mark.parametrize("query", ["firstName=" + "a" * 7900, "&".join(f"p{n}=1" for n in range(1000))])
def test_long_queries(worker, query):
    worker.at_once(4 * CLIENTS, lambda: worker.send("GET", f"{STUDENTS}?{query}"))

    assert worker.peak < MOST_MEMORY


def test_memory_is_given_back(worker):
    """Less than a minute after all that, most of it."""
    body = lines(operation(position, **VIOLATIONS) for position in range(60))
    worker.at_once(3, lambda: worker.send("POST", "/batch", body, LINES))
    end = time.monotonic() + 60
    while worker.process.memory_info().rss > 250 * 2**20 and time.monotonic() < end:
        time.sleep(0.5)

    assert worker.process.memory_info().rss < 250 * 2**20
