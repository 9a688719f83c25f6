"""Upserts that wait together are written by one statement, and each is answered as if it had been the only one."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from queue import SimpleQueue
from threading import Event
from typing import Any

import psycopg
import pytest
from django.db import transaction

from edfi_api.core.models import Document
from edfi_api.core.storage import upsert_groups
from edfi_api.core.storage.database_state import database_state
from edfi_api.core.storage.integrity import disagreements
from tests.conftest import ApiTestClient, item_path
from tests.core.security.strategies.scenario import EO, Scenario
from tests.support.databases import DOCUMENTS, connection
from tests.whole.concurrency.concurrently import in_background, wait_until_one_waits_for_us

_SECONDS = 30
_TRANSACTIONS = "SELECT count(DISTINCT xmin::text) FROM document WHERE body ->> 'classPeriodName' LIKE %s"
_TERMINATE = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE %s = ANY (pg_blocking_pids(pid))"

Post = Callable[[], Any]


class Periods(Scenario):
    """Class periods of two schools, 11 and 21, of which one is in district 1."""

    def post_period(self, api: ApiTestClient, name: str, school: int = 11, minute: int | None = None) -> Any:
        body = {"classPeriodName": name, "schoolReference": {"schoolId": school}}
        if minute is not None:
            body["meetingTimes"] = [{"startTime": "08:00:00", "endTime": f"08:{minute}:00"}]
        return api.post("/classPeriods", body)

    def new(self, name: str, school: int = 11, minute: int | None = None, api: ApiTestClient | None = None) -> Post:
        return lambda: self.post_period(api or self.api, name, school, minute)

    def answers_of_group(self, *posts: Post, api: ApiTestClient | None = None) -> list[Any]:
        """The answers, after the posts have waited together for another one."""
        with self.held("first", api):
            others = [in_background(post) for post in posts]
            self.wait_for(len(posts))
        return [other.result(_SECONDS) for other in others]

    @contextmanager
    def held(self, name: str, api: ApiTestClient | None = None) -> Iterator[None]:
        """Meanwhile a post of this period waits, for a transaction that has written it."""
        with transaction.atomic():
            assert self.post_period(api or self.api, name, minute=30).status_code < 300
            waiting = in_background(self.new(name, minute=31, api=api))
            wait_until_one_waits_for_us(waiting)
            yield
            transaction.set_rollback(True)
        assert waiting.result(_SECONDS).status_code < 300

    def wait_for(self, number: int) -> None:
        groups = database_state(DOCUMENTS).value(upsert_groups.groups_of_database)
        end = time.monotonic() + _SECONDS
        while sum(len(group.members) for group in list(groups._waiting.values())) < number:
            assert time.monotonic() < end
            time.sleep(0.002)


@pytest.fixture
def periods(settings, monkeypatch, committing_api, documents, validators) -> Iterator[Periods]:
    """After the test, bodies and rows must agree."""
    settings.EDFI_API = settings.EDFI_API | {"GROUP_MILLISECONDS": _SECONDS * 1000}
    monkeypatch.setattr(upsert_groups, "_GROUP_SIZE", 100)
    database_state(DOCUMENTS).drop(upsert_groups.groups_of_database)
    found = Periods(committing_api, documents)
    found.district(1)
    found.district(2)
    found.school(11, 1)
    found.school(21, 2)
    yield found
    database_state(DOCUMENTS).drop(upsert_groups.groups_of_database)
    assert list(disagreements(validators, DOCUMENTS)) == []


@pytest.fixture
def after_inserts(periods) -> Periods:
    """An insert is likely."""
    for name in ("P1", "P2"):
        assert periods.post_period(periods.api, name).status_code == 201
    return periods


@pytest.fixture
def after_changes(periods) -> Periods:
    """A change is likely; there are the periods `first` and A to D."""
    for name in ("first", "A", "B", "C", "D"):
        assert periods.post_period(periods.api, name, minute=10).status_code == 201
    for minute in (11, 12):
        assert periods.post_period(periods.api, "first", minute=minute).status_code == 200
    return periods


def transactions_of(names: str) -> int:
    """The number of transactions that wrote the periods with such names."""
    with connection.cursor() as cursor:
        cursor.execute(_TRANSACTIONS, [names])
        return cursor.fetchone()[0]


def test_new_documents_are_inserted_together(after_inserts):
    names = [f"new {number}" for number in range(5)]

    answers = after_inserts.answers_of_group(*(after_inserts.new(name) for name in names))

    assert [answer.status_code for answer in answers] == [201] * 5
    for name, answer in zip(names, answers, strict=True):
        stored = after_inserts.api.get(item_path(answer))
        assert stored.json()["classPeriodName"] == name
        assert stored.headers["ETag"] == answer.headers["ETag"]
        assert stored.json()["schoolReference"]["link"]["rel"] == "School"
    assert transactions_of("new %") == 1


def test_changes_are_written_together(after_changes):
    names = ["A", "B", "C", "D"]

    answers = after_changes.answers_of_group(*(after_changes.new(name, minute=20) for name in names))

    assert [answer.status_code for answer in answers] == [200] * 4
    for name, answer in zip(names, answers, strict=True):
        stored = after_changes.api.get(item_path(answer))
        assert (stored.json()["classPeriodName"], stored.json()["meetingTimes"][0]["endTime"]) == (name, "08:20:00")
        assert stored.headers["ETag"] == answer.headers["ETag"]
    assert transactions_of("_") == 1


def test_each_change_has_a_version_of_its_own(after_changes):
    answers = after_changes.answers_of_group(*(after_changes.new(name, minute=20) for name in "ABCD"))

    assert len({answer.headers["ETag"] for answer in answers}) == 4


@pytest.mark.parametrize("likely", ["after_inserts", "after_changes"])
def test_each_of_different_upserts_is_answered_as_if_it_were_alone(request, likely):
    periods = request.getfixturevalue(likely)
    periods.post_period(periods.api, "stored", minute=10)
    periods.post_period(periods.api, "changed", minute=10)
    for number in range(2):  # Makes the outcome likely again.
        name = "first" if likely == "after_changes" else f"other {number}"
        periods.post_period(periods.api, name, minute=50 + number)

    answers = periods.answers_of_group(
        periods.new("new", minute=10),
        periods.new("stored", minute=10),
        periods.new("changed", minute=20),
        periods.new("without school", school=99),
    )

    assert [answer.status_code for answer in answers] == [201, 200, 200, 409]
    stored = {each["classPeriodName"]: each for each in periods.api.get("/classPeriods?limit=100").json()}
    assert stored["changed"]["meetingTimes"][0]["endTime"] == "08:20:00"
    assert "without school" not in stored
    assert {"new", "stored"} <= stored.keys()


def test_a_document_that_two_clients_create_is_created_by_one(after_inserts):
    posts = [after_inserts.new("twice", minute=minute) for minute in (10, 20)]

    answers = after_inserts.answers_of_group(*posts, after_inserts.new("other"))

    assert sorted(answer.status_code for answer in answers[:2]) == [200, 201]
    assert answers[2].status_code == 201
    [stored] = after_inserts.api.get("/classPeriods?classPeriodName=twice").json()
    changed = next(minute for minute, answer in zip((10, 20), answers[:2], strict=True) if answer.status_code == 200)
    assert stored["meetingTimes"][0]["endTime"] == f"08:{changed}:00"


@pytest.mark.parametrize("likely", ["after_inserts", "after_changes"])
def test_the_policy_of_the_client_decides_about_each_document(request, likely):
    periods = request.getfixturevalue(likely)
    client = periods.client_by(EO, organizations=(1,))
    names = ("A", "B") if likely == "after_changes" else ("new", "newer")
    if likely == "after_changes":
        periods.post_period(periods.api, "C", school=21, minute=10)
        for minute in (13, 14):
            periods.post_period(periods.api, "first", minute=minute)

    answers = periods.answers_of_group(
        *(periods.new(name, minute=20, api=client) for name in names),
        periods.new("C", school=21, minute=20, api=client),
        api=client,
    )

    assert [answer.status_code < 300 for answer in answers] == [True, True, False]
    assert answers[2].status_code == 403


def test_the_documents_of_two_clients_are_not_written_together(after_inserts):
    client = after_inserts.client_by(EO, organizations=(1,))

    with after_inserts.held("first"):
        ours = in_background(after_inserts.new("ours"))
        after_inserts.wait_for(1)
        theirs = in_background(after_inserts.new("theirs", api=client))
        assert theirs.result(_SECONDS).status_code == 201
        assert not ours.done()

    assert ours.result(_SECONDS).status_code == 201
    creators = Document.objects.filter(body__classPeriodName__in=["ours", "theirs"]).values_list("created_by")
    assert len(set(creators)) == 2


def test_a_document_that_is_locked_makes_only_its_own_request_wait(after_changes):
    with uncommitted(after_changes.new("A", minute=40)):
        with after_changes.held("first"):
            waiting = in_background(after_changes.new("A", minute=20))
            others = [in_background(after_changes.new(name, minute=20)) for name in "BCD"]
            after_changes.wait_for(4)
        assert [other.result(_SECONDS).status_code for other in others] == [200] * 3
        assert not waiting.done()
    assert waiting.result(_SECONDS).status_code == 200


def test_a_group_whose_session_ends_is_written_all_the_same(after_inserts):
    with uncommitted(after_inserts.new("new 0")) as session:
        with after_inserts.held("first"):
            others = [in_background(after_inserts.new(f"new {number}")) for number in range(3)]
            after_inserts.wait_for(3)
        with psycopg.connect(connection.connection.info.dsn, autocommit=True) as administrator:
            while not administrator.execute(_TERMINATE, [session]).fetchall():
                assert not any(other.done() for other in others)
    assert [other.result(_SECONDS).status_code for other in others] == [201] * 3


def test_without_groups_no_upsert_waits_for_another(after_inserts, settings):
    settings.EDFI_API = settings.EDFI_API | {"GROUP_MILLISECONDS": 0}

    with after_inserts.held("first"):
        other = in_background(after_inserts.new("other"))
        assert other.result(_SECONDS).status_code == 201


@contextmanager
def uncommitted(post: Post) -> Iterator[int]:
    """The post is in a transaction that is rolled back afterwards; yields the process id of its session."""
    sessions: SimpleQueue[int] = SimpleQueue()
    end = Event()

    def hold() -> None:
        with transaction.atomic():
            assert post().status_code < 300
            sessions.put(connection.connection.info.backend_pid)
            end.wait(_SECONDS)
            transaction.set_rollback(True)

    holding = in_background(hold)
    yield sessions.get(timeout=_SECONDS)
    end.set()
    holding.result(_SECONDS)
