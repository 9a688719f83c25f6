"""The thread behind the requests: what it writes, and that requests never depend on it."""

import threading
import time
from contextlib import closing
from uuid import uuid4

import pytest
from django.db import OperationalError, connection

from edfi_api.features.refusals import pending
from edfi_api.features.refusals.ledger import Ledger, Resolving
from edfi_api.features.refusals.metrics import DROPPED
from edfi_api.features.refusals.models import OpenRefusals, Refusal, SubmissionHour
from edfi_api.features.refusals.recorder import LedgerWriter, Recorder
from edfi_api.web.viewsets import recorded_writes
from edfi_api.web.write_recorder import RefusedWrite
from tests.conftest import http
from tests.support.factories import STUDENT

PROBLEM = {"type": "urn:ed-fi:api:bad-request", "title": "Bad Request", "status": 400, "errors": ["No."]}


def refusal(number: int = 0) -> RefusedWrite:
    body = {"classPeriodName": str(number)}
    return RefusedWrite(1, 0, "/ed-fi/classPeriods", None, "upsert", PROBLEM, time.time(), size=100, sent=body)


def repeated_by_a_thread(recorder: Recorder, times: int) -> threading.Thread:
    def repeat() -> None:
        for _ in range(times):
            recorder.record_refused(refusal())

    thread = threading.Thread(target=repeat)
    thread.start()
    return thread


def kept(waiting: pending.Pending) -> list[str]:
    """The names in the writes that are kept."""
    groups = [each for part in waiting.take_parts() for each in part.refusals.values()]
    found = [each for group in groups for each in (*group.documents, *filter(None, [group.others]))]
    return [each.write.sent["classPeriodName"] for each in found]


def test_repetitions_of_threads_and_processes_are_one_entry(transactional_db):
    recorders = [Recorder(), Recorder()]
    for thread in [repeated_by_a_thread(recorder, 125) for recorder in recorders * 4]:
        thread.join()
    for recorder in recorders:
        recorder.close()

    assert list(Refusal.objects.values_list("count", flat=True)) == [1000]
    assert list(OpenRefusals.objects.values_list("entries", flat=True)) == [1]


def test_what_cannot_be_recorded_now_is_kept(db, monkeypatch):
    assert not Refusal.objects.exists()  # Begins the transaction of the test.
    waiting = pending.Pending()
    waiting.refuse(refusal())
    writer = LedgerWriter(waiting, connection)

    def fail(*_):
        raise OperationalError("gone")

    with monkeypatch.context() as away, pytest.raises(OperationalError):
        away.setattr("edfi_api.features.refusals.ledger.Ledger.record", fail)
        writer.flush()
    writer.flush()

    assert Refusal.objects.get().count == 1


def test_counts_that_cannot_be_recorded_now_are_kept(api, recorder, monkeypatch):
    def fail(*_):
        raise OperationalError("gone")

    api.post("/students", STUDENT)
    api.post("/students", STUDENT | {"birthDate": "never"})
    with monkeypatch.context() as away, pytest.raises(OperationalError):
        away.setattr("edfi_api.features.refusals.ledger.Ledger.count_hours", fail)
        recorder.flush()
    api.post("/students", STUDENT)
    recorder.flush()

    [hour] = SubmissionHour.objects.all()
    assert (hour.accepted, hour.refused) == (2, 1)
    assert hour.last_accepted_at > hour.last_refused_at


def test_a_full_queue_drops_the_newest_and_counts_them(monkeypatch):
    monkeypatch.setattr(pending, "MOST_WRITES", 2)
    monkeypatch.setattr(Recorder, "_resume", lambda self: None)
    recorder = Recorder()
    before = DROPPED._value.get()

    for number in range(5):
        recorder.record_refused(refusal(number))

    assert kept(recorder.pending) == ["0", "1"]
    assert DROPPED._value.get() - before == 3


def test_a_queue_has_a_limit_of_bytes(monkeypatch):
    monkeypatch.setattr(pending, "MOST_BYTES", 15_000)
    waiting = pending.Pending()

    assert [waiting.refuse(refusal(number)) for number in range(3)] == [True, True, False]
    [part] = waiting.take_parts()
    assert not waiting.refuse(refusal(3))
    waiting.release(part)
    assert waiting.refuse(refusal(3))


def test_of_refusals_for_one_cause_only_the_first_different_ones_need_room(settings):
    settings.EDFI_API = settings.EDFI_API | {"REFUSALS_PER_SECOND": 2}
    waiting = pending.Pending()

    assert all(waiting.refuse(refusal(number % 1000)) for number in range(20_000))

    assert kept(waiting) == ["0", "1", "2"]


def test_a_process_that_wakes_reports_successes_until_it_has_read_what_is_open(monkeypatch):
    monkeypatch.setattr(Recorder, "_resume", lambda self: None)
    recorder = Recorder()
    assert recorder.count_accepted(1, 0, "/ed-fi/students", 0.0)

    recorder._awaited = {(2, 0, "/ed-fi/students")}

    assert not recorder.count_accepted(1, 0, "/ed-fi/students", 0.0)
    assert recorder.count_accepted(2, 0, "/ed-fi/students", 0.0)


def test_metrics_have_refusals_and_open_entries(transactional_db):
    with closing(Recorder()) as recorder:
        recorder.record_refused(refusal())

    text = http().get("/metrics").content.decode()

    assert 'meadowlark_refusals_total{client="1",problem="bad-request",resource="other"}' in text
    assert "meadowlark_open_refusals" in text


def test_without_recorder_nothing_is_recorded(api):
    assert recorded_writes.recorder() is None
    assert api.post("/students", "{").status_code == 400
    assert not Refusal.objects.exists()


def test_answers_do_not_depend_on_the_ledger(api, recorder, settings, monkeypatch):
    """Neither those of refused writes nor those of good ones, whatever becomes of the records."""
    bodies = [STUDENT | {"birthDate": "never"}, STUDENT]

    def answers():
        found = [api.post("/students", body, HTTP_CORRELATIONID="mine") for body in bodies]
        return [(each.status_code, dict(each.headers), each.content) for each in found]

    def fail(*_):
        raise OperationalError("gone")

    answers()  # Stores the student.
    recorded = answers()
    with monkeypatch.context() as away, pytest.raises(OperationalError):
        away.setattr("edfi_api.features.refusals.ledger.Ledger.record", fail)
        recorder.flush()
    without_database = answers()
    monkeypatch.setattr(pending, "MOST_WRITES", 0)
    full = answers()
    settings.EDFI_API = settings.EDFI_API | {"WRITE_RECORDER": ""}

    assert [status for status, *_ in recorded] == [400, 200]
    assert recorded == without_database == full == answers()


def test_what_another_server_has_refused_is_resolved_only_by_what_is_sent(db):
    assert not Refusal.objects.exists()  # Begins the transaction of the test.
    ledger, sent = Ledger(connection), refusal()._replace(direction="sent", document_uuid=uuid4())
    waiting = pending.Pending()
    for write in (refusal(), sent):
        waiting.refuse(write)
    LedgerWriter(waiting, connection).flush()
    assert list(Refusal.objects.values_list("direction", "count").order_by("id")) == [("received", 1), ("sent", 1)]

    for direction, left in (("received", 2), ("sent", 1)):
        with ledger.changes():
            ledger.resolve([Resolving(1, 0, sent.document_uuid, time.time(), False, direction=direction)])

        assert Refusal.objects.filter(resolved_at=None).count() == left
    assert list(OpenRefusals.objects.values_list("direction", "entries")) == [("received", 1), ("sent", 0)]
