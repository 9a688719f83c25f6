"""`manage.py run_schedule`: commands are started when they are due, one of each at a time, whatever happens."""

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from io import StringIO

import psutil
import psycopg
import pytest
from django.core.management import call_command
from django.core.management.base import CommandError
from django.db import connection
from django.test import Client
from psycopg import sql

from edfi_api.site.schedule.models import ScheduledCommand
from edfi_api.site.schedule.timetable import read_timetable
from tests.site.schedule.conftest import Running, due, eventually, outcome_of
from tests.support.databases import database_url

PURGE = "1s purge_changes"
DONE = f"{PURGE}: done"
_PURGES = """
SELECT pid FROM pg_stat_activity
 WHERE datname = current_database() AND wait_event_type = 'Lock' AND query LIKE '%purge_run%'
"""

Start = Callable[[str], Running]


@contextmanager
def purges_held() -> Iterator[None]:
    """Lets purge_changes wait at its last statement."""
    with psycopg.connect(database_url()) as other:
        other.execute("LOCK TABLE purge_run IN ACCESS EXCLUSIVE MODE")
        yield


def purges_at_work() -> list[int]:
    """The backends of those that wait."""
    with connection.cursor() as cursor:
        return [pid for (pid,) in cursor.execute(_PURGES)]


def test_a_command_is_started_again_and_again(scheduler: Start) -> None:
    running = scheduler(PURGE)

    running.wait_until_printed(DONE, times=2)

    assert "0 superseded versions and the bodies of 0 deleted documents purged" in running.output
    assert running.stop() == 0


def test_a_new_entry_is_not_due_yet(scheduler: Start) -> None:
    running = scheduler("00:00 purge_refusals; 24h purge_validation; 1s purge_changes")

    running.wait_until_printed(DONE)

    assert "purge_refusals: started" not in running.output
    assert "purge_validation: started" not in running.output


@pytest.mark.long
def test_what_was_due_while_nothing_ran_is_caught_up_with_once(scheduler: Start) -> None:
    due("00:00 purge_refusals")

    running = scheduler(f"00:00 purge_refusals; {PURGE}")

    running.wait_until_printed(DONE, times=2)
    assert running.output.count("purge_refusals: started") == 1
    assert outcome_of("00:00 purge_refusals") == "done"


def test_of_two_schedulers_one_starts_a_command(scheduler: Start) -> None:
    due("1d purge_refusals")
    schedule = f"1d purge_refusals; {PURGE}"

    both = [scheduler(schedule), scheduler(schedule)]

    eventually(lambda: sum(each.output.count(DONE) for each in both) >= 4, *both)
    assert sum(each.output.count("purge_refusals: started") for each in both) == 1


@pytest.mark.long
def test_a_command_that_still_runs_elsewhere_is_not_started(scheduler: Start) -> None:
    with purges_held():
        both = [scheduler(PURGE), scheduler(PURGE)]

        eventually(lambda: any("still running elsewhere" in each.output for each in both), *both)

        assert len(purges_at_work()) == 1
        assert sum(each.output.count("purge_changes: started") for each in both) == 1
        assert outcome_of(PURGE) == "busy"
    eventually(lambda: any(DONE in each.output for each in both), *both)


def test_a_command_that_fails_or_is_killed_does_not_stop_the_others(scheduler: Start) -> None:
    failing = "1s load_documents nowhere.jsonl"
    with purges_held():
        running = scheduler(f"{failing}; {PURGE}")
        eventually(purges_at_work, running)
        running.wait_until_printed(f"{failing}: failed", times=2)
        [purge] = psutil.Process(running.process.pid).children()
        purge.kill()
        running.wait_until_printed(f"{PURGE}: failed")

    running.wait_until_printed(DONE)

    assert "load_documents nowhere.jsonl: nowhere.jsonl does not exist" in running.output
    assert "Traceback" not in running.output
    assert outcome_of(failing) == "failed"


@pytest.mark.long
def test_a_killed_connection_fails_one_run(scheduler: Start) -> None:
    with purges_held():
        running = scheduler(PURGE)
        eventually(purges_at_work, running)
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_terminate_backend(%s)", purges_at_work())
        running.wait_until_printed(f"{PURGE}: failed")

    running.wait_until_printed(DONE)

    assert "purge_changes: the database is unavailable" in running.output
    assert "Traceback" not in running.output


@pytest.mark.long
def test_a_database_that_is_away_is_waited_for(scheduler: Start) -> None:
    running = scheduler(PURGE)
    running.wait_until_printed(DONE)
    name = connection.settings_dict["NAME"]
    with psycopg.connect(database_url(), dbname="postgres", autocommit=True) as other:
        allow = sql.SQL("ALTER DATABASE {} ALLOW_CONNECTIONS {}").format
        other.execute(allow(sql.Identifier(name), sql.Literal(False)))
        try:
            running.wait_until_printed("WARNING edfi_api.site.schedule.scheduler [-] the database is unavailable")
        finally:
            other.execute(allow(sql.Identifier(name), sql.Literal(True)))
    before = running.output.count(DONE)

    running.wait_until_printed(DONE, times=before + 1)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_commands_and_is_waited_for(scheduler: Start, number: signal.Signals) -> None:
    with purges_held():
        running = scheduler(PURGE)
        eventually(purges_at_work, running)
        children = psutil.Process(running.process.pid).children()

        running.process.send_signal(number)

        assert running.process.wait(30) == 0
        assert len(children) == 1 and not children[0].is_running()
        assert purges_at_work() == []
        assert outcome_of(PURGE) == "stopped"


@pytest.mark.parametrize(
    ("command", "reason"),
    [
        ("feed_cats", "there is no command 'feed_cats' that can be scheduled"),
        ("run_schedule", "there is no command 'run_schedule' that can be scheduled"),
        ("purge_changes --days x", "--days: 'x' is not a whole number"),
        ("purge_changes 'a", "has a quotation without an end"),
    ],
)
def test_commands_that_cannot_be_started_are_refused(settings, command: str, reason: str) -> None:
    settings.SCHEDULE = read_timetable(f"1h {command}")

    with pytest.raises(CommandError, match=reason):
        call_command("run_schedule")


def test_the_schedule_is_listed_and_its_outcomes_are_metrics(settings, db) -> None:
    settings.SCHEDULE = read_timetable("24h housekeeping; 02:00 run_validation; 5m refresh_sql_views")
    moment = "2026-11-23 02:00:01+00:00"
    ended = {"claimed_at": moment, "host": "api-1", "ended_at": moment}
    ScheduledCommand.objects.create(entry="24h housekeeping", outcome="done", succeeded_at=moment, **ended)
    ScheduledCommand.objects.create(entry="02:00 run_validation", outcome="failed", **ended)
    ScheduledCommand.objects.create(entry="1h of_another_host", outcome="failed", **ended)
    output = StringIO()

    call_command("run_schedule", "--list", stdout=output)
    metrics = Client().get("/metrics").content.decode().splitlines()

    assert output.getvalue().splitlines() == [
        "24h housekeeping: started at 2026-11-23 02:00:01 by api-1; done at 2026-11-23 02:00:01",
        "02:00 run_validation: started at 2026-11-23 02:00:01 by api-1; failed at 2026-11-23 02:00:01",
        "5m refresh_sql_views: not started yet",
    ]
    assert 'meadowlark_scheduled_command_failed{entry="24h housekeeping"} 0.0' in metrics
    assert 'meadowlark_scheduled_command_failed{entry="02:00 run_validation"} 1.0' in metrics
    aged = [line for line in metrics if line.startswith("meadowlark_scheduled_command_age_seconds")]
    assert len(aged) == 1 and "of_another_host" not in "".join(metrics)
