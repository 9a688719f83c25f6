"""The limits of batches: at, below and above each."""

import gzip
import json

import pytest

from edfi_api.common.conf import api_settings
from edfi_api.core.models import Document
from edfi_api.web.batch.sets import Sets
from edfi_api.web.batch.work import Batch
from tests.web.batch.batch_client import parts
from tests.web.batch.operations import DESCRIPTORS, student


@pytest.fixture
def limited(batch, settings):
    """Changes limits of the server."""

    def limit(**limits):
        settings.EDFI_API = settings.EDFI_API | limits
        return batch

    return limit


def students(count):
    return [student(number) for number in range(count)]


@pytest.mark.parametrize(("mode", "lines"), [("atomic", False), ("atomic", True), ("independent", False)])
def test_more_operations_than_the_limit_are_refused(limited, mode, lines):
    batch = limited(BATCH_OPERATIONS=2)
    send = batch.lines if lines else batch.send

    assert send(students(2), mode=mode).status_code == 200
    response = send(students(3), mode=mode)

    assert response.status_code == 413
    assert response.json()["type"] == "urn:ed-fi:api:content-too-large"
    assert response.json()["errors"] == ["A batch may have 2 operations at most (MEADOWLARK_BATCH_OPERATIONS)."]
    assert Document.objects.count() == 2


def test_independent_lines_have_a_limit_of_their_own(limited):
    batch = limited(BATCH_OPERATIONS=2, BATCH_STREAM_OPERATIONS=3)

    assert batch.lines(students(3), mode="independent").status_code == 200
    assert batch.lines(students(4), mode="independent").status_code == 413


def test_bytes_count_after_decompression(limited):
    operations = students(3)
    size = len(json.dumps(operations))

    assert limited(BATCH_BYTES=size).gzipped(operations).status_code == 200
    batch = limited(BATCH_BYTES=size - 1)
    assert batch.gzipped(operations).status_code == 413
    assert batch.send(operations).status_code == 413


def test_a_body_that_explodes_is_refused(batch):
    bomb = gzip.compress(b"[" + b" " * (2 * api_settings.BATCH_BYTES) + b"]")

    assert len(bomb) < 200_000
    assert batch.send(bomb, HTTP_CONTENT_ENCODING="gzip").status_code == 413


@pytest.mark.parametrize("padding", [" ", "x"])
def test_a_document_is_limited_as_a_single_one_and_others_go_on(limited, padding):
    batch = limited(MAX_BODY_BYTES=1000)
    long = student(1, middleName=padding * 70_000)

    assert batch.statuses(long, student(2), student(3, middleName="y" * 1000)) == [413, 201, 413]


def test_a_batch_beyond_memory_is_read_and_answered_from_files(batch):
    operations = [student(number % 3, otherNames=[], ignored="x" * 1000) for number in range(2500)]

    results = batch.results(operations, mode="independent")

    assert len(json.dumps(operations)) > 2 * 2**20
    assert [result["status"] for result in results[:4]] == [201, 201, 201, 200]
    assert len(results) == 2500


def test_when_the_time_is_over_the_rest_is_not_done(limited):
    batch = limited(BATCH_SECONDS=0)

    for mode in ("atomic", "independent"):
        response = batch.send(students(2), mode=mode)
        assert (response.status_code, response["Retry-After"]) == (503, "5")
    assert Document.objects.count() == 0


@pytest.fixture
def ends_after_a_set(monkeypatch):
    """The time of a batch is over when a set has been carried out."""
    groups, is_over = Sets.groups, []

    def one_group(sets, chunk):
        for group in groups(sets, chunk):
            yield group
            is_over.append(True)

    monkeypatch.setattr(Sets, "groups", one_group)
    monkeypatch.setattr(Batch, "_is_over", lambda _: bool(is_over))


@pytest.mark.usefixtures("ends_after_a_set")
def test_when_the_time_is_over_midway_an_independent_batch_says_what_was_not_done(batch):
    *results, last = parts(batch.send([*students(3), *DESCRIPTORS, *students(5)], mode="independent"))

    assert [(result["index"], result["status"]) for result in results] == [(0, 201), (1, 201), (2, 201)]
    assert last["summary"] == {
        "operations": 10,
        "succeeded": 3,
        "refused": 0,
        "notDone": 7,
        "byStatus": {"201": 3},
    }
    assert Document.objects.count() == 3


@pytest.mark.usefixtures("ends_after_a_set")
@pytest.mark.parametrize("order", ["given", "free"])
def test_when_the_time_is_over_midway_nothing_of_an_atomic_batch_is_written(batch, order):
    response = batch.send([*students(3), *DESCRIPTORS], order=order)

    assert (response.status_code, response.json()["type"]) == (503, "urn:ed-fi:api:service-unavailable")
    assert response["Retry-After"] == "5"
    assert Document.objects.count() == 0


def test_a_process_works_off_so_many_batches_and_no_more(limited):
    batch = limited(BATCHES_AT_ONCE=0)
    response = batch.send([])
    assert (response.status_code, response["Retry-After"]) == (503, "1")

    response = limited(BATCHES_AT_ONCE=1, BATCHES_PER_CLIENT=0).send([])
    assert (response.status_code, response.json()["type"]) == (429, "urn:ed-fi:api:too-many-requests")
    assert limited(BATCHES_PER_CLIENT=1).send([]).status_code == 200
    assert batch.send([]).status_code == 200


def test_operations_are_counted_per_minute(limited):
    batch = limited(BATCH_OPERATIONS_PER_MINUTE=6)

    statuses = [batch.send(students(4)).status_code, batch.send(students(4)).status_code]

    assert statuses == [200, 429]
    assert parts(batch.send([])) == [
        {"summary": {"operations": 0, "succeeded": 0, "refused": 0, "notDone": 0, "byStatus": {}}}
    ]
