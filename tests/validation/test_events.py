"""Results as events of the change stream, and how long results are kept."""

import json
from datetime import timedelta

import pytest
from django.core.management import call_command
from django.db import connection
from django.utils import timezone

from edfi_api.changes.change_stream.exceptions import SinkFailed
from edfi_api.validation.events import stream_results
from edfi_api.validation.purging import purge
from tests.change_stream.conftest import ListSink
from tests.validation.conftest import student
from tests.validation.rules import STUDENTS


def streamed(sink: ListSink) -> list[tuple[str, str]]:
    before = len(sink.lines)
    stream_results("tests", sink, "default")
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
