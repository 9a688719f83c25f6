"""A page of large documents is one answer, which is never in memory as a whole."""

import http.client
import json
import socket
import time
from collections.abc import Iterator
from contextlib import ExitStack

import psycopg
import pytest

from tests.whole.robustness.memory import needs_peaks, peak, reset_peak
from tests.whole.robustness.raw_http import all_threads_answer
from tests.whole.robustness.real_server import RealServer

DOCUMENTS, BYTES = 500, 200_000
# The additional memory of a worker: the largest batch in several forms, and the answer up to the spooling threshold.
MOST_GROWTH = 50 * 2**20

# Larger than the API accepts for descriptors.
_LARGE_DOCUMENTS = """
INSERT INTO document (document_uuid, resource_type_id, body)
SELECT gen_random_uuid(), resource_type_id, body || jsonb_build_object('codeValue', 'Large ' || number,
       'description', (SELECT string_agg(md5(number || '-' || n), '') FROM generate_series(1, %(bytes)s / 32) n))
  FROM document d, generate_series(1, %(documents)s) number WHERE d.natural_key LIKE '%%#Model'
"""


@pytest.fixture(scope="module")
def page(real_server: RealServer) -> Iterator[str]:
    """The path of a page of large descriptors."""
    body = {"namespace": "uri://ed-fi.org/TermDescriptor", "codeValue": "Model", "shortDescription": "Large"}
    with real_server.client() as client:
        assert client.send("POST", "/data/ed-fi/termDescriptors", body).status == 201
    with psycopg.connect(real_server.database_url) as connection:
        connection.execute(_LARGE_DOCUMENTS, {"documents": DOCUMENTS, "bytes": BYTES})
    yield f"/data/ed-fi/termDescriptors?shortDescription=Large&limit={DOCUMENTS}&offset=1"
    with psycopg.connect(real_server.database_url) as connection:
        connection.execute("DELETE FROM document d WHERE d.natural_key LIKE '%#Large %'")


_MANY_LARGE_REFERRERS = """
WITH referrer AS (
    INSERT INTO document (document_uuid, resource_type_id, body)
    SELECT gen_random_uuid(), d.resource_type_id, d.body || jsonb_build_object('codeValue', 'Large ' || number,
           'description', (SELECT string_agg(md5(number || '-' || n), '') FROM generate_series(1, %(bytes)s / 32) n))
      FROM document d, generate_series(1, %(documents)s) number WHERE d.natural_key LIKE '%%#Model'
    RETURNING id, resource_type_id
)
INSERT INTO reference (document_id, resource_type_id, alias_id)
SELECT referrer.id, referrer.resource_type_id, a.referential_id
  FROM referrer, alias a JOIN document d ON d.id = a.document_id WHERE d.natural_key LIKE '%%#Model'
"""


@pytest.fixture(scope="module")
def relations(real_server: RealServer) -> Iterator[str]:
    """The path of a page of large documents that refer to one."""
    body = {"namespace": "uri://ed-fi.org/SexDescriptor", "codeValue": "Model", "shortDescription": "Large"}
    with real_server.client() as client:
        item = client.send("POST", "/data/ed-fi/sexDescriptors", body).headers["Location"].rpartition("/")[2]
    with psycopg.connect(real_server.database_url) as connection:
        connection.execute(
            _MANY_LARGE_REFERRERS.replace("#Model", "/SexDescriptor#Model"), {"documents": DOCUMENTS, "bytes": BYTES}
        )
    yield f"/relations/v1/ed-fi/sexDescriptors/{item}?include=body&pageSize={DOCUMENTS}"
    with psycopg.connect(real_server.database_url) as connection:
        connection.execute("DELETE FROM document d WHERE d.natural_key LIKE '%#Large %'")


@needs_peaks
@pytest.mark.parametrize("path", ["page", "relations"])
def test_memory_does_not_grow_with_the_page(real_server, request, path):
    path = request.getfixturevalue(path)
    before = [reset_peak(worker) for worker in real_server.workers()]

    with real_server.client() as client:
        answer = client.send("GET", path)

    growth = [peak(worker) - had for worker, had in zip(real_server.workers(), before, strict=True)]
    documents = [each.get("body", each) for each in json.loads(answer.body)]
    assert len(answer.body) == int(answer.headers["Content-Length"]) > DOCUMENTS * BYTES * 0.99
    assert [document["codeValue"] for document in documents] == [f"Large {number + 1}" for number in range(DOCUMENTS)]
    assert all(len(document["description"]) == BYTES for document in documents)
    assert max(growth) < MOST_GROWTH, growth


@pytest.mark.parametrize("path", ["page", "relations"])
def test_head_of_a_large_page_has_its_length(real_server, request, path):
    """The connection can be used for the next request."""
    path = request.getfixturevalue(path).replace(str(DOCUMENTS), "60")
    connection = http.client.HTTPConnection("127.0.0.1", real_server.port)
    connection.auto_open = 0
    connection.connect()

    lengths = []
    for method in ("HEAD", "GET", "HEAD"):
        connection.request(method, path, headers={"Authorization": f"Bearer {real_server.token}"})
        answer = connection.getresponse()
        lengths.append((int(answer.headers["Content-Length"]), len(answer.read())))

    (length, _), *_ = lengths
    assert lengths == [(length, 0), (length, length), (length, 0)]
    assert length > 60 * BYTES * 0.99


def test_pages_of_large_relations_work_in_both_directions(real_server, relations):
    """Pages of three batches each contain every document exactly once."""
    with real_server.client() as client:
        for order, numbers in (("oldest", range(1, DOCUMENTS + 1)), ("newest", range(DOCUMENTS, 0, -1))):
            path = f"{relations.replace(str(DOCUMENTS), '60')}&order={order}"
            found, token = [], ""
            while token is not None:
                answer = client.send("GET", path + (token and f"&pageToken={token}"))
                found += [each["body"]["codeValue"] for each in json.loads(answer.body)]
                token = answer.headers.get("Next-Page-Token")
            assert found == [f"Large {number}" for number in numbers]


@pytest.mark.parametrize("documents", [30, 60], ids=["from memory", "from a file"])
def test_clients_that_do_not_read_do_not_block_others(real_server, page, documents):
    """With more such clients than threads."""
    request = (
        f"GET {page.replace(str(DOCUMENTS), str(documents))} HTTP/1.1\r\nAuthorization: Bearer {real_server.token}"
    )
    with ExitStack() as connections:
        for _ in range(9):
            deaf = connections.enter_context(socket.socket())
            deaf.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            deaf.connect(("127.0.0.1", real_server.port))
            deaf.sendall(f"{request}\r\nHost: localhost\r\n\r\n".encode())
        time.sleep(1)  # Until all threads are writing: there is no way to observe which of the nine clients waits.
        assert all_threads_answer(real_server, timeout=60)


def test_a_client_that_reads_slowly_gets_all(real_server, page):
    connection = http.client.HTTPConnection("127.0.0.1", real_server.port)
    headers = {"Authorization": f"Bearer {real_server.token}"}
    connection.request("GET", page.replace(str(DOCUMENTS), "60"), headers=headers)
    answer = connection.getresponse()
    length, received = int(answer.headers["Content-Length"]), 0
    # A slow client, which takes longer in total than the timeout of a request.
    pause = 1.2 * real_server.REQUEST_SECONDS * 1_000_000 / length
    start = time.monotonic()
    while part := answer.read(1_000_000):
        received += len(part)
        time.sleep(pause)

    assert received == length
    assert time.monotonic() - start > real_server.REQUEST_SECONDS
