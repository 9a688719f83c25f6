"""What is kept of runs: where one ends, and how much is kept for how long."""

from datetime import UTC, datetime, timedelta
from uuid import uuid4

import pytest
from django.core.management import call_command
from django.db import connection
from django.utils import timezone

from edfi_api.features.runs.counting import RunCounter
from edfi_api.features.runs.counts import Counts, Refused
from edfi_api.features.runs.models import RunMinute, purge
from edfi_api.features.runs.report import runs_of
from edfi_api.web.answered_requests import AnsweredRequest, DocumentsRead

NOON = datetime(2026, 11, 28, 12, tzinfo=UTC)


class CounterInTest(RunCounter):
    """Has no thread."""

    def _begin(self) -> None:
        pass


@pytest.fixture
def counting(settings):
    """As a server counts."""
    settings.EDFI_API = settings.EDFI_API | {"RUN_DAYS": 30}


def store(at: datetime, number: int = 1, client: str = "key") -> None:
    counts = Counts()
    counts.writes["/ed-fi/students", "created"] = number
    minute = at.replace(second=0, microsecond=0)
    RunMinute.objects.create(
        client=client, minute=minute, data_store=0, process=uuid4(), first_at=at, last_at=at, counts=counts.as_json()
    )


def test_a_run_ends_before_half_an_hour_of_silence(db):
    for minutes in (0, 29, 40, 71, 90):
        store(NOON + timedelta(minutes=minutes))
    store(NOON + timedelta(minutes=60), client="another")

    found = [(run.first_at - NOON, run.last_at - NOON) for run in runs_of("key")]

    assert [tuple(each // timedelta(minutes=1) for each in times) for times in found] == [(71, 90), (0, 40)]


def test_after_a_week_counts_are_by_the_hour_and_after_a_month_gone(counting, db):
    now = timezone.now()
    old = (now - timedelta(days=10)).replace(minute=5, second=1, microsecond=0)
    store(now, 1)
    for minute in (5, 6, 59):
        store(old.replace(minute=minute), 2)
    store(now - timedelta(days=40), 4)

    assert [purge(), purge()] == [3, 0]

    kept = {row.minute: row for row in RunMinute.objects.all()}
    assert len(kept) == 2
    hour = kept[old.replace(minute=0, second=0)]
    assert hour.counts["writes"] == [["/ed-fi/students", "created", 6]]
    assert (hour.first_at, hour.last_at) == (old, old.replace(minute=59))


def test_housekeeping_purges(counting, db, capsys):
    store(timezone.now() - timedelta(days=40))

    call_command("housekeeping")

    assert "purge_runs: done" in capsys.readouterr().out
    assert not RunMinute.objects.exists()


def test_causes_of_a_client_in_a_minute_are_bounded(counting, db):
    counter = CounterInTest()
    problem = {"type": "urn:ed-fi:api:bad-request:data-validation-failed", "status": 400}
    refused = [
        AnsweredRequest(
            "GET",
            "data",
            "/ed-fi/students",
            400,
            0.01,
            "key",
            done=problem | {"validationErrors": {f"$.member{number}": ["is wrong"]}},
        )
        for number in range(1100)
    ]

    counter.count(refused)
    counter.write(connection)

    counts = Counts.total(Counts.of_json(row.counts) for row in RunMinute.objects.all())
    assert len(counts.refused) in (1001, 1002)  # The minute may have changed.
    assert sum(counts.refused.values()) == 1100
    other = Refused("/ed-fi/students", "read", 400, "bad-request:data-validation-failed", "other causes")
    assert counts.refused[other] in range(1, 101)


def test_refusals_of_resources_that_a_client_has_invented_are_bounded():
    counts = [Counts(), Counts()]
    for number in range(3000):
        for each in counts:
            each.refuse(Refused(f"/unknown/{number}", "upsert", 404, "not-found", f"cause {number}"))

    total = Counts.total(counts)

    other = Refused("other resources", "upsert", 404, "not-found", "other causes")
    assert [len(each.refused) for each in (*counts, total)] == [2001, 2001, 2001]
    assert (counts[0].refused[other], total.refused[other]) == (1000, 2000)
    assert sum(total.refused.values()) == 6000


def test_only_requests_of_clients_to_data_are_counted(counting, db):
    counter = CounterInTest()
    read = DocumentsRead(1, 100)
    counter.count(
        [
            AnsweredRequest("GET", "data", "/ed-fi/students", 200, 0.01, None, done=read),
            AnsweredRequest("POST", "oauth-token", "oauth-token", 401, 0.01, "key"),
            AnsweredRequest("GET", "run-report", "run-report", 200, 0.01, "key"),
        ]
    )
    counter.write(connection)

    assert not RunMinute.objects.exists()


def test_a_percentile_is_within_four_percent():
    counts = Counts()
    for number in range(1, 101):
        counts.count_request("write", 201, number / 1000)

    found = [counts.percentile("write", share) for share in (0.5, 0.95, 0.99)]

    assert found == pytest.approx([0.050, 0.095, 0.099], rel=0.04)
