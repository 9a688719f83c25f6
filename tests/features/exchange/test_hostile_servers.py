"""Answers that no Ed-Fi API gives: each is a sentence, in bounded memory and time, and does not end the connection."""

import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from secrets import token_hex
from typing import Any

import pytest

from edfi_api.core.models import Document
from edfi_api.features.exchange import remote_api
from edfi_api.features.exchange.models import Connection
from edfi_api.features.exchange.pull import reading
from edfi_api.features.exchange.pull.pulling import Pulled
from edfi_api.features.exchange.push import target as push_target
from edfi_api.features.exchange.push.target import bounded
from edfi_api.features.exchange.remote_api import RemoteApi, RemoteFailed, RemoteTooLarge, Trust, plain_id
from tests.features.exchange.district import District
from tests.features.exchange.reference_source import ReferenceSource
from tests.support.databases import DOCUMENTS
from tests.support.ports import ADDRESS

Connect = Callable[..., Connection]
Pull = Callable[..., Pulled]
STUDENTS, NEWEST = "/data/ed-fi/students", "/changes/availableChangeVersions"


@pytest.fixture(autouse=True)
def _without_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(remote_api, "_FIRST_PAUSE", 0.001)
    monkeypatch.setattr(remote_api, "_LONGEST_PAUSE", 0.001)


def nested(depth: int) -> str:
    return '{"a":' * depth + "1" + "}" * depth


PAGES = {
    "brackets": ("[" + "[]," * 200_000 + "[]]", "more than 250,000 values"),
    "nested beyond JSON": ("[" + nested(5_000) + "]", "not JSON"),
    "nested": ("[" + nested(600) + "]", "nested too deeply"),
    "a number of a gigabyte": ('[{"id":"1","firstName":1e999999999}]', "not JSON"),
    "digits without end": ('[{"id":"1","firstName":' + "9" * 5_000 + "}]", "not JSON"),
    "no list": ("{}", "not a list of documents"),
    "a list of lists": ("[[1]]", "not a list of documents"),
}


@pytest.mark.parametrize(("page", "sentence"), PAGES.values(), ids=list(PAGES))
def test_pages(
    district: District, source: ReferenceSource, connect: Connect, pull: Pull, *, page: str, sentence: str
) -> None:
    district.student(0)
    connection = connect()
    source.fault = lambda number, path: (200, page, {"Total-Count": "1"}) if path == STUDENTS else None

    with pytest.raises(RemoteFailed, match=sentence):
        pull(connection)

    source.fault = lambda number, path: None
    pull(connection)
    assert Document.objects.using(DOCUMENTS).count() == 1


ANSWERS = {
    "a version beyond the database's": (NEWEST, (200, {"newestChangeVersion": 2**63}, {}), "are none"),
    "a version that is true": (NEWEST, (200, {"newestChangeVersion": True}, {}), "are none"),
    "a negative version": (NEWEST, (200, {"newestChangeVersion": -1}, {}), "are none"),
    "a count of many digits": (STUDENTS, (200, "[]", {"Total-Count": "9" * 5_000}), "more than there can be"),
    "no count": (STUDENTS, (200, "[]", {}), "does not say its Total-Count"),
    "a huge refusal": (STUDENTS, (400, {"detail": "x" * 2_000_000}, {}), "answered with 400"),
    "a path that is none": ("/openapi/Resources", (200, {"paths": {"//a": {}, "/": {}, "": {}}}, {}), ""),
    "an endpoint that is none": ("/openapi", (200, [{"name": "Resources", "endpointUri": "http://["}], {}), "is none"),
    "an address that is none": ("/", (200, {"urls": {"dataManagementApi": "http://[", "oauth": "x"}}, {}), "not an ad"),
    "dependencies that are none": ("/dependencies", (200, [{"resource": [], "order": {}}], {}), ""),
    "a redirect that is none": (STUDENTS, (302, "", {"Location": "http://[::"}), "is none"),
    "a life of a token": ("/token", (200, {"access_token": "a", "expires_in": 10**30}, {}), ""),
}


@pytest.mark.parametrize(("path", "answer", "sentence"), ANSWERS.values(), ids=list(ANSWERS))
def test_answers(
    district: District, source: ReferenceSource, connect: Connect, pull: Pull, *, path: str, answer: Any, sentence: str
) -> None:
    district.student(0)
    connection = connect()
    source.fault = lambda number, asked: answer if asked == path else None
    source.has_tokens = False

    if sentence:
        with pytest.raises(RemoteFailed, match=sentence):
            pull(connection)
    else:
        pull(connection)

    source.fault = lambda number, path: None
    pull(connection, is_full=True)
    assert Document.objects.using(DOCUMENTS).count() == 1


@pytest.mark.parametrize(
    ("has_tokens", "headers", "sentence"),
    [
        (False, {"Total-Count": str(10**15)[:15]}, "fewer documents than its Total-Count"),
        (True, {"Total-Count": "5000", "Next-Page-Token": "same"}, "names itself as the next one"),
    ],
)
def test_pages_without_end(
    source: ReferenceSource, connect: Connect, pull: Pull, *, has_tokens: bool, headers: Any, sentence: str
) -> None:
    source.has_tokens = has_tokens
    source.version = 1
    source.fault = lambda number, path: (200, "[]", headers) if path == STUDENTS else None

    with pytest.raises(RemoteFailed, match=sentence):
        pull(connect())

    assert len(source.requests) < 1_000


def test_tokens_without_end(source: ReferenceSource, connect: Connect, pull: Pull) -> None:
    source.version = 1
    source.fault = lambda number, path: (
        (200, "[]", {"Total-Count": "30", "Next-Page-Token": f"t{number}"}) if path == STUDENTS else None
    )

    with pytest.raises(RemoteFailed, match="have no end"):
        pull(connect())

    assert len(source.requests) < 1_000


def test_partitions_without_number(source: ReferenceSource, connect: Connect, pull: Pull) -> None:
    source.version = 1
    answers = {
        STUDENTS: (200, "[]", {"Total-Count": "5"}),
        f"{STUDENTS}/partitions": (200, {"pageTokens": ["t"] * 100_000}, {}),
    }
    source.fault = lambda number, path: answers.get(path)

    with pytest.raises(RemoteFailed, match="more than 1,000"):
        pull(connect())


@pytest.mark.parametrize("below", ["deletes", "keyChanges"])
def test_deletes_and_key_changes_without_end(
    source: ReferenceSource, connect: Connect, pull: Pull, *, below: str
) -> None:
    source.version = 1
    connection = connect()
    pull(connection)
    source.version = 2
    page = [{"id": f"{number}\0\n", "keyValues": {"studentUniqueId": {}}} for number in range(500)]
    source.fault = lambda number, path: (200, page, {}) if path == f"{STUDENTS}/{below}" else None

    with pytest.raises(RemoteFailed, match=r"the same to every offset|without \$.studentUniqueId"):
        pull(connection)


def test_ids_that_are_none(district: District, source: ReferenceSource, connect: Connect, pull: Pull) -> None:
    """The document is written; one that is refused cannot be read again."""
    for id_ in ("a\0b", "a\nb", "../schools", "x" * 1_000):
        source.put("ed-fi/students", {"studentUniqueId": f"S{len(id_)}{id_[0]}", "firstName": id_}, id_)
    source.put("ed-fi/students", {"studentUniqueId": "T", "firstName": "A", "lastSurname": "B"}, "c\0d")
    district.student(9)

    pulled = pull(connect())

    assert pulled.outcomes is not None
    assert pulled.outcomes.total("refused") == 5
    assert pulled.outcomes.total("inserted") == 1


def test_pages_that_are_too_large_are_read_in_parts(
    district: District, source: ReferenceSource, connect: Connect, pull: Pull, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reading, "_MOST_VALUES", 60)
    for number in range(40):
        district.student(number)
    connection = connect()

    for has_tokens in (True, False):
        source.has_tokens = has_tokens
        pull(connection, is_full=True)
        assert Document.objects.using(DOCUMENTS).count() == 40


@contextmanager
def dripping(answer: bytes) -> Iterator[str]:
    """A server that sends a byte each tenth of a second behind the first ones."""
    listener = socket.create_server((ADDRESS, 0))

    def serve() -> None:
        with listener:
            taken, _ = listener.accept()
            with taken:
                taken.recv(65_536)
                taken.sendall(answer)
                for _ in range(100):
                    time.sleep(0.05)
                    try:
                        taken.sendall(b"a")
                    except OSError:
                        return

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    yield f"http://{ADDRESS}:{listener.getsockname()[1]}/"
    thread.join(10)


@pytest.mark.parametrize(
    "answer", [b"", b"HTTP/1.1 200 OK\r\nX-A: ", b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n"]
)
def test_a_drip_ends_at_the_deadline_of_the_request(
    connect: Connect, monkeypatch: pytest.MonkeyPatch, answer: bytes
) -> None:
    monkeypatch.setattr(remote_api, "_SECONDS_OF_ANSWER", 0.4)
    began = time.monotonic()
    with dripping(answer) as address, pytest.raises(RemoteFailed, match="takes longer than"):
        RemoteApi(connect(address=address), Trust()).discovery  # noqa: B018

    assert time.monotonic() - began < 4


def test_what_is_compressed_is_bounded_as_well(
    source: ReferenceSource, connect: Connect, monkeypatch: pytest.MonkeyPatch
) -> None:
    api = RemoteApi(connect(), Trust())
    source.fault = lambda number, path: (200, " " * 100_000, {}) if path == STUDENTS else None

    with pytest.raises(RemoteTooLarge, match="more than 50,000 bytes"):
        api.get(api.data_address("ed-fi/students"), most=50_000)


def test_answers_that_are_too_large_leave_their_connections_to_others(
    source: ReferenceSource, connect: Connect
) -> None:
    api = RemoteApi(connect(), Trust(), connections=2)
    page = token_hex(2_000_000)  # Cannot be compressed, so that it ends before it has been read.
    source.fault = lambda number, path: (200, page, {}) if path == STUDENTS else None

    def requests() -> None:
        for _ in range(3):
            with pytest.raises(RemoteTooLarge):
                api.get(api.data_address("ed-fi/students"), most=50_000)
        answered.append(api.get(api.data_address("ed-fi/schools")).status)

    answered: list[int] = []
    thread = threading.Thread(target=requests, daemon=True)
    thread.start()
    thread.join(20)

    assert answered == [200]


def test_problems_are_bounded() -> None:
    said = {
        "type": "t" * 10_000,
        "detail": "\0\n" + "d" * 10_000,
        "errors": ["e" * 10_000] * 10_000,
        "validationErrors": {f"$.p{number}": ["v" * 10_000] * 100 for number in range(10_000)},
        "other": [1] * 10_000,
    }

    assert len(str(bounded(said))) < 10_000
    assert bounded([1]) == bounded("x") == {}


@pytest.mark.parametrize("id_", ["a\0", "a\n", "a/b", "é", "x" * 101, 7, None])
def test_an_id_that_cannot_stand_in_an_address(id_: Any) -> None:
    assert plain_id(id_) is None
    assert push_target._id_in(f"http://a/{id_}\0") is None
