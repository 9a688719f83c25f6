"""Batches beside batches and single requests on the same documents: integrity, and nothing but refusals."""

import random
import time

import psycopg
import pytest
from django.db import connection

from edfi_api.core.models import Document
from tests.web.batch.batch_client import parts
from tests.web.batch.operations import enrolment, period, school, student
from tests.whole.concurrency.concurrently import at_once

NUMBERS = range(1, 9)
PERIODS = "ABCDEFGH"


def test_atomic_batches_that_make_the_same_documents_in_contrary_order_succeed(batch):
    for attempt in range(2):
        numbers = range(100 * attempt + 100, 100 * attempt + 120)
        operations = [operation for number in numbers for operation in (student(number), enrolment(number))]
        backwards = [operation for number in reversed(numbers) for operation in (student(number), enrolment(number))]

        answers = at_once(lambda: batch.send(operations), lambda: batch.send(backwards))  # noqa: B023

        assert [answer.status_code for answer in answers] == [200, 200]


def test_atomic_batches_that_change_the_same_documents_in_contrary_order_succeed(batch):
    batch.results([student(number) for number in range(100, 120)])

    def changes(name: str, numbers):
        return [
            operation
            for number in numbers
            for operation in (student(number, firstName=name), period(f"{name}{number}"))
        ]

    answers = at_once(
        lambda: batch.send(changes("Ida", range(100, 120))),
        lambda: batch.send(changes("Ann", range(119, 99, -1))),
        lambda: batch.send(changes("Joe", range(100, 120))),
        lambda: batch.send(changes("Eve", range(119, 99, -1))),
    )

    assert [answer.status_code for answer in answers] == [200, 200, 200, 200]
    changed = Document.objects.filter(body__studentUniqueId__in=[f"S{number}" for number in range(100, 120)])
    assert len({each.body["firstName"] for each in changed}) == 1, "all of one batch"


def test_a_version_is_replaced_once(batch):
    (found,) = batch.results([school(1)])
    change = {"op": "update", "id": found["id"], "ifMatch": found["etag"]}

    def update(number: int):
        return batch.send([change | school(1, webSite=f"https://{number}.example"), *_fill(number)])

    answers = at_once(*(lambda number=number: update(number) for number in range(4)))

    assert sorted(answer.status_code for answer in answers) == [200, 400, 400, 400]


@pytest.fixture
def locked(batch):
    """The student 1 is locked by another session, and ours waits for a short time."""
    with connection.cursor() as cursor:
        cursor.execute("SET lock_timeout = '20ms'")
    with psycopg.connect(connection.connection.info.dsn) as other:
        other.execute("SELECT FROM document d WHERE d.natural_key = 'NK#studentUniqueId=S1' FOR UPDATE")
        yield
    connection.close()


@pytest.mark.usefixtures("locked")
def test_an_operation_that_waits_for_too_long_is_refused_alone_and_may_be_sent_again(batch):
    operations = [student(50), student(1, firstName="Ida"), student(51), period("X")]

    *results, _ = parts(batch.send(operations, mode="independent"))

    assert [result["status"] for result in results] == [201, 503, 201, 201]
    assert results[1]["problem"]["type"] == "urn:ed-fi:api:service-unavailable"


@pytest.mark.usefixtures("locked")
def test_an_atomic_batch_that_fails_for_a_while_only_may_be_sent_again(batch):
    before = Document.objects.count()

    response = batch.send([student(50), student(1, firstName="Ida"), period("X")])

    problem = response.json()
    assert (response.status_code, problem["type"]) == (503, "urn:ed-fi:api:service-unavailable")
    assert response["Retry-After"]
    assert [(each["index"], each["status"]) for each in problem["failedOperations"]] == [(1, 503)]
    assert Document.objects.count() == before


def _fill(number: int):
    return [student(1000 * number + each) for each in range(10)]


def test_batches_and_single_requests_of_all_kinds(batch, request):
    seconds = request.config.getoption("--stress-seconds")
    end = time.monotonic() + seconds
    statuses: list[set[int]] = []

    def atomic(chance: random.Random) -> set[int]:
        return {batch.send(_any_operations(chance)).status_code}

    def independent(chance: random.Random) -> set[int]:
        response = batch.send(_any_operations(chance), mode="independent", order=chance.choice(["given", "free"]))
        return {response.status_code, *(part["status"] for part in parts(response) if "status" in part)}

    def singles(chance: random.Random) -> set[int]:
        found = set()
        for operation in _any_operations(chance)[:5]:
            if "document" in operation and operation.get("op") != "update":
                found.add(batch.api.post(f"/data{operation['resource']}", operation["document"]).status_code)
        return found

    def repeated(act, seed):
        chance = random.Random(seed)  # noqa: S311
        found = set()
        while time.monotonic() < end:
            found |= act(chance)
        return found

    acts = [atomic, atomic, independent, singles]
    statuses = at_once(
        *(lambda act=act, seed=seed: repeated(act, seed) for seed, act in enumerate(acts)), seconds=seconds + 60
    )

    assert set().union(*statuses) <= {200, 201, 204, 400, 404, 409, 412}
    assert Document.objects.count() > 0


def _any_operations(chance: random.Random):
    kinds = [
        lambda: student(chance.choice(NUMBERS), firstName=chance.choice("xyz")),
        lambda: enrolment(chance.choice(NUMBERS)),
        lambda: period(chance.choice(PERIODS)),
        lambda: {"op": "delete", "resource": "Student", "naturalKey": _student_key(chance)},
        lambda: {"op": "delete", "resource": "/ed-fi/classPeriods", "naturalKey": _period_key(chance)},
        lambda: {"op": "update", "naturalKey": _period_key(chance)} | period(chance.choice(PERIODS)),
    ]
    operations = []
    for _ in range(chance.randrange(1, 4)):
        kind = chance.choice(kinds)
        operations += [kind() for _ in range(chance.randrange(1, 8))]
    return operations


def _student_key(chance: random.Random):
    return {"studentUniqueId": f"S{chance.choice(NUMBERS)}"}


def _period_key(chance: random.Random):
    return {"classPeriodName": chance.choice(PERIODS), "schoolId": 1}
