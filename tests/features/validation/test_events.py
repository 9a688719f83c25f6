"""Results as events of the change stream, and how long results are kept."""

import json
import re
from datetime import timedelta

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError
from django.db import connection
from django.utils import timezone

from edfi_api.features.changes.change_queries.models import ChangeConsumer
from edfi_api.features.changes.change_stream.delivery import ToSink, deliver_once
from edfi_api.features.changes.change_stream.exceptions import SinkFailed
from edfi_api.features.validation.events import ResultLog
from edfi_api.features.validation.management.commands.purge_validation import purge
from edfi_api.site.observability.metrics import exposition
from tests.features.changes.change_stream.conftest import ListSink, Process, eventually
from tests.features.validation.conftest import student
from tests.features.validation.rules import STUDENTS


def streamed(sink: ListSink) -> list[tuple[str, str]]:
    before = len(sink.lines)
    deliver_once([ToSink("tests", ResultLog(), sink)])
    return [(line["operation"], line["naturalKey"]) for line in sink.lines[before:]]


def test_each_state_of_a_result_is_an_event(rules, committing_api) -> None:
    rules.write("s1.sql", STUDENTS.replace("1 AS education", "d.body ->> 'lastSurname' AS message, 1 AS education"))
    sink = ListSink()
    student(committing_api, "1")
    rules.run()
    assert streamed(sink) == [("appeared", "NK#studentUniqueId=1")]
    student(committing_api, "1", lastSurname="Li")
    rules.run()
    assert streamed(sink) == [("changed", "NK#studentUniqueId=1")]
    student(committing_api, "1", middleName="Ann")
    rules.run()
    assert streamed(sink) == [("resolved", "NK#studentUniqueId=1")]
    assert streamed(sink) == []
    assert sink.lines[0]["resource"] == "validation/validationResults"
    assert len({line["resultIdentifier"] for line in sink.lines}) == 1
    times = [line["time"] for line in sink.lines]
    assert times == sorted(set(times))


def test_events_that_were_not_accepted_are_sent_again(rules, committing_api) -> None:
    rules.write("s1.sql", STUDENTS)
    student(committing_api, "1")
    rules.run()
    sink = ListSink()
    sink.is_broken = True
    with pytest.raises(SinkFailed):
        streamed(sink)
    sink.is_broken = False

    assert streamed(sink) == [("appeared", "NK#studentUniqueId=1")]


def test_the_command_streams_results_only_when_asked_for(rules, committing_api, capfdbinary) -> None:
    rules.write("s1.sql", STUDENTS)
    student(committing_api, "1")
    rules.run()
    capfdbinary.readouterr()

    call_command("stream_changes", consumer="steward", resource=["validation/validationResults"])

    [line] = capfdbinary.readouterr().out.splitlines()
    assert json.loads(line)["ruleIdentifier"] == "S-1"
    call_command("stream_changes", consumer="others")
    assert b"ruleIdentifier" not in capfdbinary.readouterr().out


def test_logs_have_consumers_of_their_own_with_the_same_names(rules, committing_api, capfdbinary) -> None:
    rules.write("s1.sql", STUDENTS)
    student(committing_api, "1")
    rules.run()
    call_command("stream_changes", consumer="lake")
    capfdbinary.readouterr()

    call_command("stream_changes", consumer="lake", resource=["Validation/validationResults"])

    assert b"ruleIdentifier" in capfdbinary.readouterr().out
    assert set(ChangeConsumer.objects.values_list("log", "name")) == {("documents", "lake"), ("validation", "lake")}


def test_an_upgrade_keeps_the_positions_of_consumers_of_results(db, rows) -> None:
    call_command("migrate", "validation", "0001", verbosity=0)
    rows("INSERT INTO validation_consumer (name, validation_version) VALUES ('steward', 42) RETURNING name")

    call_command("migrate", "validation", verbosity=0)

    assert list(ChangeConsumer.objects.values_list("log", "name", "change_version")) == [("validation", "steward", 42)]


def test_results_are_streamed_by_themselves(db) -> None:
    with pytest.raises(CommandError, match="validation/validationResults is streamed by itself"):
        call_command("stream_changes", consumer="a", resource=["ed-fi/students", "validation/validationResults"])


def test_a_follower_is_notified_of_results(rules, committing_api, tmp_path) -> None:
    rules.write("s1.sql", STUDENTS)
    student(committing_api, "1")
    follow = ("stream_changes", "--consumer", "tests", "--follow", "--resource", "validation/validationResults")
    (tmp_path / "output").mkdir()
    process = Process(tmp_path / "output", *follow)
    try:
        eventually(ChangeConsumer.objects.filter(change_version__gt=0).exists)

        rules.run()

        eventually(process.lines, seconds=5)
    finally:
        process.end()
    assert [line["ruleIdentifier"] for line in process.lines()] == ["S-1"]


def test_lag_is_the_age_of_the_oldest_result_that_a_consumer_has_not_received(rules, committing_api) -> None:
    sink = ListSink()
    streamed(sink)
    rules.write("s1.sql", STUDENTS)
    student(committing_api, "1")
    rules.run()
    with connection.cursor() as cursor:
        cursor.execute("UPDATE validation_result SET appeared_at = now() - interval '1 hour'")
    label = '{consumer="tests",log="validation"}'

    [seconds] = re.findall(rf"meadowlark_change_consumer_lag_seconds{label} (\S+)", exposition().decode())

    assert 3600 <= float(seconds) < 3700
    streamed(sink)
    assert f"meadowlark_change_consumer_lag_seconds{label} 0.0" in exposition().decode()


def test_resolved_results_are_purged(rules, committing_api, rows) -> None:
    rules.write("s1.sql", STUDENTS)
    for number in ("1", "2", "3"):
        path = student(committing_api, number)
    rules.run()
    student(committing_api, "1", middleName="Ann")
    committing_api.delete(path)
    rules.run()
    now = timezone.now()
    assert purge(now + timedelta(days=29), 400, "default").results == 0
    assert purge(now + timedelta(days=31), 400, "default").results == 1
    assert rows("SELECT natural_key FROM validation_result ORDER BY 1") == [
        ("NK#studentUniqueId=1",),
        ("NK#studentUniqueId=2",),
    ]
    assert purge(now + timedelta(days=401), 400, "default").results == 1
    assert rows("SELECT natural_key FROM validation_result") == [("NK#studentUniqueId=2",)]


def test_runs_that_results_refer_to_stay(rules, committing_api, rows) -> None:
    rules.write("s1.sql", STUDENTS)
    student(committing_api, "1")
    for _ in range(3):
        rules.run()
    with connection.cursor() as cursor:
        cursor.execute("UPDATE validation_run SET finished_at = now() - interval '500 days'")

    call_command("purge_validation")

    assert rows("SELECT count(*), bool_or(id IN (SELECT first_run FROM validation_result)) FROM validation_run") == [
        (2, True)
    ]
