"""Acknowledged writes survive the kill of a worker, and of the database, during writes."""

import json
import signal
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from functools import partial
from http.client import HTTPException
from threading import Event

import pytest

from tests.whole.robustness.waiting import wait_until

STUDENT = {"firstName": "Mae", "lastSurname": "Ortiz", "birthDate": "2010-02-03"}
WRITERS = 6
_WRITES_EACH = 20
# A generous timeout for operations that usually take a second or two.
_TIMEOUT = 60


class Writer:
    """Posts new students until it is stopped, and records the answers."""

    def __init__(self, name):
        self.name = name
        self.acknowledged = set()
        self.statuses = Counter()
        self.refusals = []

    def write_until(self, stop, server):
        with server.client() as client:
            while not stop.is_set():
                with suppress(OSError, HTTPException):
                    self.write(client)

    def write(self, client):
        student_id = f"{self.name}-{sum(self.statuses.values())}"
        self.statuses["sent"] += 1
        answer = client.send("POST", "/data/ed-fi/students", STUDENT | {"studentUniqueId": student_id})
        self.statuses[answer.status] += 1
        if answer.status in (200, 201):
            self.acknowledged.add(student_id)
        else:
            self.refusals.append(answer)
            time.sleep(0.02)


@contextmanager
def writing(server, name):
    """Several writers, each with acknowledged writes before and after the context."""
    stop = Event()
    writers = [Writer(f"{name}-{number}") for number in range(WRITERS)]
    with ThreadPoolExecutor(WRITERS) as pool:
        running = [pool.submit(partial(writer.write_until, stop, server)) for writer in writers]
        try:
            wait_for_writes_of_each(writers)
            yield writers
            wait_for_writes_of_each(writers)
        finally:
            stop.set()
        for each in running:
            each.result(30)


def wait_for_writes_of_each(writers):
    """Waits until each writer has enough further acknowledged writes; a few may have been in progress."""
    targets = {writer: len(writer.acknowledged) + _WRITES_EACH for writer in writers}
    wait_until(lambda: all(len(writer.acknowledged) >= targets[writer] for writer in writers), _TIMEOUT)


def wait_for_refusals_of_each(writers):
    wait_until(lambda: all(writer.refusals for writer in writers), _TIMEOUT)


def statuses_of(writers):
    return set(sum((writer.statuses for writer in writers), Counter())) - {"sent"}


def acknowledged_by(writers):
    return set.union(*(writer.acknowledged for writer in writers))


def test_a_killed_worker_loses_no_acknowledged_write(real_server):
    victim = real_server.workers()[0]
    with writing(real_server, "worker") as writers:
        victim.kill()

    assert statuses_of(writers) <= {200, 201}
    assert acknowledged_by(writers) <= real_server.stored_student_ids()
    assert len(real_server.workers()) == 2


@pytest.mark.parametrize("number", [signal.SIGQUIT, signal.SIGKILL], ids=lambda number: number.name)
def test_a_killed_database_loses_no_acknowledged_write(real_server, number):
    with writing(real_server, number.name) as writers:
        real_server.kill_database(number)
        wait_for_refusals_of_each(writers)
        real_server.start_database()

    assert statuses_of(writers) <= {200, 201, 503}
    assert acknowledged_by(writers) <= real_server.stored_student_ids()
    for refusal in (refusal for writer in writers for refusal in writer.refusals):
        assert refusal.headers["Retry-After"] == "5"
        assert refusal.headers["Content-Type"] == "application/problem+json"
        assert json.loads(refusal.body)["type"] == "urn:ed-fi:api:service-unavailable"


def test_a_database_restarted_between_requests_is_not_noticed_by_clients(real_server):
    with ThreadPoolExecutor(16) as pool:

        def send(path):
            with real_server.client() as client:
                return client.send("GET", path).status

        paths = ["/data/ed-fi/students?limit=1", "/data/ed-fi/students/0198b4f3-3c5e-7000-8000-0123456789ab"] * 20
        before = list(pool.map(send, paths))
        real_server.kill_database(signal.SIGQUIT)
        real_server.start_database()
        after = list(pool.map(send, paths))

    assert before == after == [200, 404] * 20


def test_the_log_of_the_server_has_no_traceback(real_server):
    """Runs last, after all tests above."""
    assert "Traceback" not in real_server.log.read_text()
